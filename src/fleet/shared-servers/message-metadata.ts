import type { RequestingClient } from '../../core/requesting-client.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** Describes the client that waits for the response to a request. A replica sends it with each request to the owner of the server. */
export type ClientMetadata = Pick<
  RequestingClient,
  'session' | 'capabilities' | 'logLevel' | 'hasSingleServer'
>;

/**
 * The metadata of a message from the owner to another replica. Each number is the id of a request of that replica.
 *
 * - `answers`: the message is the response of the server to the request.
 * - `during`: the server sent the message while it worked on the request.
 * - `failed`: the owner could not get a response; the message is the error.
 * - `unsent`: the owner did not forward the request to the server, so it can be sent again. There is no message.
 * - An empty object: the message belongs to no request.
 */
export type OwnerMetadata =
  | { readonly answers: number }
  | { readonly during: number }
  | { readonly failed: number }
  | { readonly unsent: number }
  | Readonly<Record<string, never>>;

/** Returns null for a request that no client waits for. */
export function serializeClientMetadata(client: RequestingClient | undefined): JsonObject | null {
  if (client === undefined) return null;
  const { session, capabilities, logLevel, hasSingleServer } = client;
  return {
    session,
    capabilities,
    logLevel,
    // Other replicas read this member under its old name, `isAlone`.
    isAlone: hasSingleServer === true ? true : undefined,
  };
}

export function parseClientMetadata(metadata: unknown): ClientMetadata | undefined {
  if (!isJsonObject(metadata) || typeof metadata['session'] !== 'string') return undefined;
  const { session, capabilities, logLevel, isAlone } = metadata;
  return {
    session,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    logLevel: typeof logLevel === 'string' ? logLevel : undefined,
    hasSingleServer: isAlone === true ? true : undefined,
  };
}
