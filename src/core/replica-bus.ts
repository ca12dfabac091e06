import type { JsonObject } from './json.ts';

/** Sends requests between the replicas that serve the same clients. */
export interface ReplicaBus {
  /** The id of this replica. Session ids, request ids and event ids contain it, so that each replica knows which one to ask. */
  readonly self: string;
  /** The ids of the other replicas that are running now. */
  others(): readonly string[];
  /** Sends a request once; rejects with REPLICA_AWAY if the replica has stopped. */
  request(
    replica: string,
    subject: string,
    body: JsonObject,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<JsonObject>;
  /** Handles requests with this subject until the result is disposed. */
  onRequest(
    subject: string,
    handler: (
      body: JsonObject,
      request: { readonly from: string; readonly signal: AbortSignal },
    ) => Promise<JsonObject>,
  ): Disposable;
}

/** A replica id has eight characters, as `openFleet` generates it; a dot separates it from the rest. */
const REPLICA_PREFIX = /^([a-z2-7]{8})\./;

/** Returns the id of the replica that created a session, request or event id; undefined if the id has no such prefix. */
export function readReplicaFromId(id: unknown): string | undefined {
  return typeof id === 'string' ? REPLICA_PREFIX.exec(id)?.[1] : undefined;
}
