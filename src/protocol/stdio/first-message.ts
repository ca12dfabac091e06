import { Readable } from 'node:stream';
import { parseMessage } from '../rpc-message.ts';
import type { RpcMessage } from '../rpc-message.ts';

const MAX_BYTES = 1024 * 1024;
const NEWLINE = 10;

interface FirstMessage {
  /** Absent if the client sent nothing, a batch, invalid JSON or more than a megabyte. */
  readonly message: RpcMessage | undefined;
  /** The whole input of the client, including the first message. */
  readonly stdin: Readable;
}

/** Reads the first message of a client without consuming it, before anything is created for the client. */
export function readFirstMessage(stdin: Readable): Promise<FirstMessage> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (hasEnded: boolean): void => {
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      stdin.off('error', onEnd);
      stdin.pause();
      const bytes = Buffer.concat(chunks);
      const end = bytes.indexOf(NEWLINE);
      const message = parseSingle(bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8'));
      if (!hasEnded) stdin.unshift(bytes);
      resolve({ message, stdin: hasEnded ? Readable.from([bytes], { objectMode: false }) : stdin });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (chunk.includes(NEWLINE) || size > MAX_BYTES) finish(false);
    };
    const onEnd = (): void => finish(true);
    stdin.on('data', onData);
    stdin.on('end', onEnd);
    stdin.on('error', onEnd);
  });
}

function parseSingle(line: string): RpcMessage | undefined {
  const parsed = parseMessage(line);
  return parsed.kind === 'garbage' || parsed.kind === 'batch' ? undefined : parsed;
}
