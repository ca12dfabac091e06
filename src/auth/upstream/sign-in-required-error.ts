import { GatewayError } from '../../core/errors.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { SignInId } from './sign-in-id.ts';

/** Returns the error for a server that needs a sign-in, with the command that fixes it. */
export function signInRequiredError(
  signInId: SignInId,
  options: { readonly reason?: string | undefined; readonly cause?: unknown } = {},
): GatewayError {
  const { upstream, caller } = signInId;
  const command = formatLoginCommand(signInId);
  const reason = options.reason === undefined ? '' : ` ${options.reason}.`;
  return new GatewayError(
    'UPSTREAM_NEEDS_AUTH',
    `Server "${upstream}" needs you to sign in: run \`${command}\`.${reason}`,
    {
      cause: options.cause,
      details: {
        upstream,
        caller,
        command,
        reason: 'sign-in-required',
        summary: `Server "${upstream}" needs you to sign in.${reason}`,
        fix: command,
      },
    },
  );
}

/** Returns the shell command that a person runs to sign in. */
export function formatLoginCommand({ upstream, caller }: SignInId): string {
  const callerOption = caller === '' ? '' : ` --caller ${quoteShellWord(caller)}`;
  return `trunkline login ${quoteShellWord(upstream)}${callerOption}`;
}
