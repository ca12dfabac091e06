import type { ClientBehind } from '../../model/client-behind.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** What the gateway that uses a server says of a message to the one that runs it: who waits for the answer. */
export type AboutGuest = Pick<ClientBehind, 'session' | 'capabilities' | 'logLevel' | 'isAlone'>;

export function writeGuest(behind: ClientBehind | undefined): JsonObject | null {
  if (behind === undefined) return null;
  const { session, capabilities, logLevel, isAlone } = behind;
  return {
    ...{ session, capabilities },
    ...(logLevel !== undefined && { logLevel }),
    ...(isAlone === true && { isAlone }),
  };
}

export function readGuest(about: unknown): AboutGuest | undefined {
  if (!isJsonObject(about) || typeof about['session'] !== 'string') return undefined;
  const { session, capabilities, logLevel, isAlone } = about;
  return {
    ...{ session, capabilities: isJsonObject(capabilities) ? capabilities : {} },
    logLevel: typeof logLevel === 'string' ? logLevel : undefined,
    ...(isAlone === true && { isAlone }),
  };
}

/**
 * What the one that runs it says of a message: which request of the guest it answers, or to which it belongs. `failed` and `unsent` have no
 * message: the request failed before or behind the server.
 */
export type AboutHost =
  | { readonly answers: number }
  | { readonly during: number }
  | { readonly failed: number }
  | { readonly unsent: number }
  | Readonly<Record<string, never>>;
