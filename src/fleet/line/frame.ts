import type { Line } from '../../wire/stdio/frame-lines.ts';
import type { Written } from '../../wire/message.ts';

/**
 * One line between replicas: what it is and which exchange it belongs to as a JSON array, then, behind a tab, a text that is passed on as
 * it is, so that nothing of a server's message is written anew.
 */
export interface Frame {
  readonly head: readonly unknown[];
  readonly body: Line;
}

const TAB = 9;
/** Longer ones are not ours. */
const MAX_HEAD = 256 * 1024;

export function frame(head: readonly unknown[], body: Written = ''): Written {
  const text = JSON.stringify(head);
  if (typeof body === 'string') return body === '' ? text : `${text}\t${body}`;
  return [Buffer.from(`${text}\t`), ...body];
}

/** Undefined for what is none. */
export function readFrame(line: Line): Frame | undefined {
  const at = line.indexOf(typeof line === 'string' ? '\t' : (TAB as never));
  const end = at < 0 ? line.length : at;
  if (end > MAX_HEAD) return undefined;
  const text = typeof line === 'string' ? line.slice(0, end) : line.toString('utf8', 0, end);
  try {
    const head: unknown = JSON.parse(text);
    if (!Array.isArray(head)) return undefined;
    return {
      head,
      body: at < 0 ? '' : typeof line === 'string' ? line.slice(at + 1) : line.subarray(at + 1),
    };
  } catch {
    return undefined; // Whoever said it is not one of us.
  }
}

/** The body of a frame of our own as a value; undefined where it is none. */
export function bodyOf({ body }: Frame): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // The same as one that says nothing.
  }
}
