import { GatewayError } from '../../../../core/errors.ts';
import { BodyTooLargeError, readBounded } from '../../../../core/lib/read-bounded.ts';
import type { CliContext } from '../../../context.ts';

const MAX_BYTES = 1024 * 1024;

/** Reads the text that is piped to the command. */
export async function readPipedText({ stdin }: CliContext): Promise<string> {
  if (stdin.isTTY === true)
    throw new GatewayError(
      'USAGE',
      'Standard input is a terminal. Give the JSON as one argument in single quotes, or pipe it to this command, for example: trunkline add - < servers.json',
    );
  try {
    return await readBounded(stdin as AsyncIterable<Buffer>, MAX_BYTES); // No encoding is set on the stream.
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    throw new GatewayError('USAGE', 'Standard input is larger than 1 MB. Check what was piped.', {
      cause: error,
    });
  }
}
