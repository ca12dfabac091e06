import { callerIdentity } from '../../../model/caller.ts';
import type { Caller } from '../../../model/caller.ts';
import type { JsonObject } from '../../../model/json.ts';

/** The gateways that serve the same clients, as far as sessions need them. */
export interface Others {
  /** Our own name among them; it is put into ids, so that whoever reads one knows whom to ask. */
  readonly self: string;
  /** Those that are alive now, without us. */
  all(): readonly string[];
  /** Asks once; rejects when the other one is gone. */
  ask(
    replica: string,
    subject: string,
    body: JsonObject,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<JsonObject>;
  answer(
    subject: string,
    answerer: (
      body: JsonObject,
      asked: { readonly from: string; readonly signal: AbortSignal },
    ) => Promise<JsonObject>,
  ): Disposable;
}

/** Which gateway holds the stream of a session, written down where all of them can read it. */
export interface StreamPlaces {
  find(session: string): Promise<string | undefined>;
  /** It is here now. */
  note(session: string): Promise<void>;
  /** It is no longer here. */
  forget(session: string): Promise<void>;
}

/** Ids that name a gateway begin with its name. */
const NAMED = /^([a-z2-7]{8})\./;

/** The gateway that an id of ours names. */
export function namedIn(id: unknown): string | undefined {
  return typeof id === 'string' ? NAMED.exec(id)?.[1] : undefined;
}

/** Tells another gateway which session is meant, and in whose name. */
export function sessionProof({ id, caller }: { readonly id: string; readonly caller: Caller }): JsonObject {
  return { session: id, caller: callerIdentity(caller) };
}
