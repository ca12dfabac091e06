import { GatewayError } from '../model/errors.ts';
import type { CliContext } from './context.ts';

/** Arguments larger than this are refused, so that a wrong pipe does not fill the memory. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Scripts are often run with an open pipe that nobody writes to. */
const SILENCE_MS = 10_000;

/** All of standard input. Where it was not asked for, it must begin soon. */
export async function readStdin(
  { stdin }: CliContext,
  { isExpected }: { readonly isExpected: boolean },
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const silence = isExpected
    ? undefined
    : setTimeout(() => {
        const error = new GatewayError(
          'USAGE',
          'No arguments were given, and nothing comes from standard input. Give {} for none, or - to wait for standard input.',
        );
        stdin.destroy(error);
      }, SILENCE_MS);
  try {
    for await (const chunk of stdin) {
      clearTimeout(silence);
      const bytes = Buffer.from(chunk as Buffer | string); // Nobody has set an encoding.
      size += bytes.length;
      if (size > MAX_BYTES) throw new GatewayError('USAGE', 'Standard input is larger than 64 MB.');
      chunks.push(bytes);
    }
  } finally {
    clearTimeout(silence);
  }
  return Buffer.concat(chunks).toString('utf8');
}
