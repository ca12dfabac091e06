import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../core/errors.ts';

/** Creates the error for a project configuration that a person must trust first. `at-start` adds the advice to name another file. */
export function untrustedConfigError(file: string, when?: 'at-start'): GatewayError {
  const command = `trunkline trust ${quoteShellWord(file)}`;
  const change = when === 'at-start' ? 'is new or has changed' : 'has changed';
  const otherFile = when === 'at-start' ? ', or name another file with --config' : '';
  const message = `${file} or one of its guards ${change}, and it can start programs on this machine. Read it, then run \`${command}\`${otherFile}`;
  return new GatewayError('CONFIG_UNTRUSTED', message, { details: { file, command } });
}
