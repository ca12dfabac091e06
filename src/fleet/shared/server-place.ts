import type { UpstreamConfig } from '../../config/config.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** A server that runs once in the fleet, or once for each session. */
export interface ServerPlace {
  readonly server: string;
  /** Of its configuration: those of two configurations are two servers. */
  readonly fingerprint: string;
  readonly session?: string | undefined;
}

/** Undefined where every gateway has its own: by `share`, or because callers sign in to it by themselves. */
export function placeOf(config: UpstreamConfig, session: string | undefined): ServerPlace | undefined {
  const { name: server, fingerprint, share, auth } = config;
  if (auth?.per === 'caller') return undefined;
  if (share === 'fleet') return { server, fingerprint };
  return share === 'session' && session !== undefined ? { server, fingerprint, session } : undefined;
}

/** What its ownership is called. */
export function ownershipOf({ server, fingerprint, session }: ServerPlace): string {
  return [server, fingerprint, ...(session === undefined ? [] : [session])].join(' ');
}

export function writePlace({ server, fingerprint, session }: ServerPlace): JsonObject {
  return { server, fingerprint, ...(session !== undefined && { session }) };
}

export function readPlace(said: unknown): ServerPlace | undefined {
  if (!isJsonObject(said)) return undefined;
  const { server, fingerprint, session } = said;
  if (typeof server !== 'string' || typeof fingerprint !== 'string') return undefined;
  return { server, fingerprint, ...(typeof session === 'string' && { session }) };
}
