import type { UpstreamConfig } from '../../config/config.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** Identifies a server that runs once in the fleet, or once for each session. */
export interface SharedServer {
  /** The name in `mcpServers`. */
  readonly server: string;
  /** The fingerprint of the configuration. Replicas with different configurations of a server do not share it. */
  readonly fingerprint: string;
  /** The session that has its own process of the server; absent if all sessions share one. */
  readonly session?: string | undefined;
}

/**
 * Returns undefined if each replica opens the server by itself, because of its `share` setting or because
 * each caller signs in separately.
 */
export function toSharedServer(
  config: UpstreamConfig,
  session: string | undefined,
): SharedServer | undefined {
  const { name: server, fingerprint, share, auth } = config;
  if (auth?.per === 'caller') return undefined;
  if (share === 'fleet') return { server, fingerprint };
  return share === 'session' && session !== undefined ? { server, fingerprint, session } : undefined;
}

/** Returns the name under which the ownership of the server is stored in the database. */
export function toOwnershipName({ server, fingerprint, session }: SharedServer): string {
  return [server, fingerprint, ...(session === undefined ? [] : [session])].join(' ');
}

export function serializeSharedServer({ server, fingerprint, session }: SharedServer): JsonObject {
  return { server, fingerprint, session };
}

export function parseSharedServer(value: unknown): SharedServer | undefined {
  if (!isJsonObject(value)) return undefined;
  const { server, fingerprint, session } = value;
  if (typeof server !== 'string' || typeof fingerprint !== 'string') return undefined;
  return { server, fingerprint, session: typeof session === 'string' ? session : undefined };
}
