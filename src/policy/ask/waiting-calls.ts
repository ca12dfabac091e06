import { createHash, randomBytes } from 'node:crypto';

import { canonicalJson } from '../../lib/canonical-json.ts';
import { deferred } from '../../lib/deferred.ts';
import type { Deferred } from '../../lib/deferred.ts';
import type { Cancellation } from '../../lib/cancellation.ts';
import type { Caller } from '../../model/caller.ts';
import type { Entry } from '../../model/entry.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';

/** Exactly what a person is asked about; a permission is good for this and nothing else. */
export interface AskedCall {
  readonly caller: Caller;
  readonly entry: Entry;
  /** As they are shown. */
  readonly arguments: JsonObject;
  /** Digest of what is behind them, where they are shown masked. */
  readonly given?: string | undefined;
  /** Of the rules under which it is asked. */
  readonly policy: string;
  readonly rule: string;
  readonly message?: string | undefined;
}

/** A call that waits for a person, as the person sees it. */
export interface WaitingCall {
  readonly id: string;
  readonly call: AskedCall;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** Whether the client still waits; if not, the same call of the same caller will find the decision. */
  readonly isOpen: boolean;
}

export type Answer = 'approved' | 'refused' | 'late';

interface Waiting {
  readonly id: string;
  readonly key: string;
  readonly call: AskedCall;
  readonly since: number;
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  waiter: Deferred<Answer> | undefined;
  /** Set when nobody was waiting any more. */
  decided: 'approved' | 'refused' | undefined;
}

const MAX_WAITING = 200;
const MAX_PER_CALLER = 50;

/** Calls that wait for a person. A permission is bound to caller, entry, arguments and rules, is used once and expires. */
export class WaitingCalls implements Disposable {
  readonly #waiting = new Map<string, Waiting>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  list(): readonly WaitingCall[] {
    return [...this.#waiting.values()]
      .filter(({ decided }) => decided === undefined)
      .map(({ id, call, since, until, waiter }) => ({
        id,
        call,
        since,
        until,
        isOpen: waiter !== undefined,
      }));
  }

  /** Undefined when there are too many already. */
  wait(
    call: AskedCall,
    waitMs: number,
    cancellation: Cancellation,
  ): { readonly answer: Promise<Answer>; readonly withdraw: () => void } | undefined {
    const key = keyOf(call);
    const known = [...this.#waiting.values()].find((each) => each.key === key && each.waiter === undefined);
    if (known?.decided !== undefined) {
      this.#remove(known);
      return { answer: Promise.resolve(known.decided), withdraw: () => {} };
    }
    const waiting = known ?? this.#add(key, call, waitMs);
    if (waiting === undefined) return undefined;
    const waiter = deferred<Answer>();
    waiting.waiter = waiter;
    // Whoever goes away may come back with the same call before the time is over.
    const leave = (): void => {
      if (waiting.waiter === waiter) waiting.waiter = undefined;
    };
    cancellation.onCancel(leave);
    const answer = waiter.promise.finally(() => cancellation.offCancel(leave));
    return { answer, withdraw: () => this.#remove(waiting) };
  }

  /** What a person says; undefined when no such call waits. */
  decide(id: string, answer: 'approved' | 'refused'): WaitingCall | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || waiting.decided !== undefined) return undefined;
    const { call, since, until, waiter } = waiting;
    if (waiter === undefined) waiting.decided = answer;
    else this.#end(waiting, answer);
    return { id, call, since, until, isOpen: waiter !== undefined };
  }

  /** Of a server that is no more; whoever waits is refused. */
  forget(upstream: UpstreamName): void {
    for (const waiting of [...this.#waiting.values()])
      if (waiting.call.entry.upstream === upstream) this.#end(waiting, 'refused');
  }

  [Symbol.dispose](): void {
    for (const waiting of [...this.#waiting.values()]) this.#end(waiting, 'late');
  }

  #add(key: string, call: AskedCall, waitMs: number): Waiting | undefined {
    const own = [...this.#waiting.values()].filter((each) => each.call.caller.id === call.caller.id);
    if (this.#waiting.size >= MAX_WAITING || own.length >= MAX_PER_CALLER) return undefined;
    const since = this.#now();
    // Without letters and digits that look alike, since people type it.
    const id = [...randomBytes(6)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    const waiting: Waiting = {
      ...{ id, key, call, since, until: since + waitMs, waiter: undefined, decided: undefined },
      timer: setTimeout(() => this.#end(waiting, 'late'), waitMs).unref(),
    };
    this.#waiting.set(id, waiting);
    return waiting;
  }

  #end(waiting: Waiting, answer: Answer): void {
    this.#remove(waiting);
    waiting.waiter?.resolve(answer);
  }

  #remove({ id, timer }: Waiting): void {
    clearTimeout(timer);
    this.#waiting.delete(id);
  }
}

const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

function keyOf({ caller, entry, arguments: args, given, policy }: AskedCall): string {
  const { id, via, profile, groups, roles, tier } = caller;
  return createHash('sha256')
    .update(
      canonicalJson([
        ...[{ id, via, profile, groups, roles, tier }, entry.upstream, entry.kind, entry.fingerprint],
        ...[canonicalJson(args), given ?? '', policy],
      ]),
    )
    .digest('base64url');
}
