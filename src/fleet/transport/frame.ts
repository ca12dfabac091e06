import type { RawMessage } from '../../protocol/stdio/line-reader.ts';
import type { EncodedMessage } from '../../protocol/rpc-message.ts';

/**
 * One line of text on a connection between replicas. The head is a JSON array that starts with the kind of the frame and the id of its
 * request or channel. The body follows after a tab and is forwarded unchanged, so the message of a server is never serialized again.
 *
 * `hello` is the handshake, and `ping` keeps the connection alive. `ask` sends a request, `cancel` cancels it, `answer` returns its result
 * and `problem` its error. `open` requests a channel, `opened` accepts it, `say` carries its messages, and `close` refuses or closes it.
 */
export interface Frame {
  readonly head: readonly unknown[];
  readonly body: RawMessage;
}

/** The other end violated the protocol between replicas, so its connection is closed. */
export class ReplicaProtocolError extends Error {}

/** The character code of a tab. */
const TAB = 9;
/** The maximum length of a head, in characters or bytes. No replica sends a longer one. */
const MAX_HEAD_LENGTH = 256 * 1024;

/** Returns the line of a frame without its line break. A frame without a body has no tab. */
export function encodeFrame(head: readonly unknown[], body: EncodedMessage = ''): EncodedMessage {
  const text = JSON.stringify(head);
  if (typeof body === 'string') return body === '' ? text : `${text}\t${body}`;
  return [Buffer.from(`${text}\t`), ...body];
}

/** Returns undefined for a line that is not a frame. */
export function decodeFrame(line: RawMessage): Frame | undefined {
  const tabIndex = line.indexOf(typeof line === 'string' ? '\t' : (TAB as never));
  const headLength = tabIndex < 0 ? line.length : tabIndex;
  if (headLength > MAX_HEAD_LENGTH) return undefined;
  const text = typeof line === 'string' ? line.slice(0, headLength) : line.toString('utf8', 0, headLength);
  try {
    const head: unknown = JSON.parse(text);
    if (!Array.isArray(head)) return undefined;
    if (tabIndex < 0) return { head, body: '' };
    return { head, body: typeof line === 'string' ? line.slice(tabIndex + 1) : line.subarray(tabIndex + 1) };
  } catch {
    return undefined; // A replica always sends valid JSON, so the line comes from another program.
  }
}

/** Parses a body that a replica wrote itself. Returns undefined if the frame has no body or the body is not JSON. */
export function parseFrameBody({ body }: Frame): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // Callers treat an unreadable body like a missing one.
  }
}
