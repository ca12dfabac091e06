import { Readable } from 'node:stream';
import { parseMessage } from '../message.ts';
import type { Message } from '../message.ts';

const MAX_BYTES = 1024 * 1024;

/** The first message of a client, and its whole input, from the first byte on. */
export interface FirstMessage {
  /** Undefined when there is none, or when it is no single message of a reasonable size. */
  readonly message: Message | undefined;
  readonly stdin: Readable;
}

/** Looks at how a client begins, before anything is made for it. */
export function firstMessage(stdin: Readable): Promise<FirstMessage> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (hasEnded: boolean): void => {
      stdin.off('data', take);
      stdin.off('end', ended);
      stdin.off('error', ended);
      stdin.pause();
      const bytes = Buffer.concat(chunks);
      const at = bytes.indexOf(10);
      const message = readOne(bytes.subarray(0, at < 0 ? bytes.length : at).toString('utf8'));
      if (!hasEnded) stdin.unshift(bytes);
      resolve({ message, stdin: hasEnded ? Readable.from([bytes], { objectMode: false }) : stdin });
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (chunk.includes(10) || size > MAX_BYTES) finish(false);
    };
    const ended = (): void => finish(true);
    stdin.on('data', take);
    stdin.on('end', ended);
    stdin.on('error', ended);
  });
}

function readOne(line: string): Message | undefined {
  const parsed = parseMessage(line);
  return parsed.kind === 'garbage' || parsed.kind === 'batch' ? undefined : parsed;
}
