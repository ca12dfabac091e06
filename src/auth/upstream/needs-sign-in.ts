import { shellWord } from '../../lib/shell-word.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Place } from './place.ts';

/** The one sentence about a server that waits for a person, with the command that mends it. */
export function needsSignIn(
  place: Place,
  options: { readonly why?: string | undefined; readonly cause?: unknown } = {},
): GatewayError {
  const { upstream } = place;
  const why = options.why === undefined ? '' : ` ${options.why}.`;
  return new GatewayError(
    'UPSTREAM_NEEDS_AUTH',
    `Server "${upstream}" needs you to sign in: run \`${loginCommand(place)}\`.${why}`,
    { cause: options.cause, details: { upstream, caller: place.caller, command: loginCommand(place) } },
  );
}

/** As it is typed into a shell. */
export function loginCommand({ upstream, caller }: Place): string {
  const forCaller = caller === '' ? '' : ` --caller ${shellWord(caller)}`;
  return `trunkline login ${shellWord(upstream)}${forCaller}`;
}
