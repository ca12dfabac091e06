import { shellWord } from '../../lib/shell-word.ts';
import { GatewayError } from '../../model/errors.ts';

/** What a changed file of a project needs before it is used. */
export function untrusted(file: string): GatewayError {
  const command = `trunkline trust ${shellWord(file)}`;
  return new GatewayError(
    'CONFIG_UNTRUSTED',
    `${file} has changed and can start programs on this machine. Read it, then run \`${command}\``,
    { details: { file, command } },
  );
}
