import { createHash, randomBytes } from 'node:crypto';

import type { UpstreamName } from '../../core/ids.ts';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { deferred } from '../../core/lib/deferred.ts';
import type { Deferred } from '../../core/lib/deferred.ts';
import type { CallApprovalRequest } from './call-approval-request.ts';

/** A call that is held for approval, as a person sees it. */
export interface HeldCall {
  readonly id: string;
  readonly call: CallApprovalRequest;
  /** Start and end of the wait in milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** Whether the client still waits. If not, the decision takes effect when the same caller repeats the same call. */
  readonly isOpen: boolean;
}

export type CallDecision = 'approved' | 'refused' | 'late';

interface HeldCallState {
  readonly id: string;
  readonly key: string;
  readonly call: CallApprovalRequest;
  readonly since: number;
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  /** The call that waits for the decision; undefined after the client has disconnected. */
  waiter: Deferred<CallDecision> | undefined;
  /** The decision, if it was made while no client waited. The next equal call receives it. */
  decided: 'approved' | 'refused' | undefined;
}

const MAX_HELD_CALLS = 200;
const MAX_PER_CALLER = 50;

/**
 * Holds calls until a person decides about them. A decision applies only to the same caller, entry, arguments and policy, can be used
 * once, and expires.
 */
export class HeldCalls implements Disposable {
  readonly #calls = new Map<string, HeldCallState>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the calls that have not been decided yet. */
  list(): readonly HeldCall[] {
    return [...this.#calls.values()].filter(({ decided }) => decided === undefined).map(toHeldCall);
  }

  /**
   * Holds a call until it is decided or `waitMs` have passed. A call that a client repeats after a disconnect continues the earlier one,
   * or receives its decision. Returns undefined if too many calls are held.
   */
  hold(
    call: CallApprovalRequest,
    waitMs: number,
    cancellation: Cancellation,
  ): { readonly answer: Promise<CallDecision>; readonly withdraw: () => void } | undefined {
    const key = approvalKey(call);
    const known = [...this.#calls.values()].find((held) => held.key === key && held.waiter === undefined);
    if (known?.decided !== undefined) {
      this.#remove(known);
      return { answer: Promise.resolve(known.decided), withdraw: () => {} };
    }
    const held = known ?? this.#add(key, call, waitMs);
    if (held === undefined) return undefined;
    const waiter = deferred<CallDecision>();
    held.waiter = waiter;
    // The call stays in the list, because a client that has disconnected may repeat it before it expires.
    const onCancel = (): void => {
      if (held.waiter === waiter) held.waiter = undefined;
    };
    cancellation.onCancel(onCancel);
    const answer = waiter.promise.finally(() => cancellation.offCancel(onCancel));
    return { answer, withdraw: () => this.#remove(held) };
  }

  /** Applies a person's decision. Returns undefined if no such call is held. */
  decide(id: string, decision: 'approved' | 'refused'): HeldCall | undefined {
    const held = this.#calls.get(id);
    if (held === undefined || held.decided !== undefined) return undefined;
    const result = toHeldCall(held);
    if (held.waiter === undefined) held.decided = decision;
    else this.#end(held, decision);
    return result;
  }

  /** Refuses the held calls of a server that left the configuration. */
  forget(upstream: UpstreamName): void {
    for (const held of [...this.#calls.values()])
      if (held.call.entry.upstream === upstream) this.#end(held, 'refused');
  }

  [Symbol.dispose](): void {
    for (const held of [...this.#calls.values()]) this.#end(held, 'late');
  }

  #add(key: string, call: CallApprovalRequest, waitMs: number): HeldCallState | undefined {
    const ofCaller = [...this.#calls.values()].filter((held) => held.call.caller.id === call.caller.id);
    if (this.#calls.size >= MAX_HELD_CALLS || ofCaller.length >= MAX_PER_CALLER) return undefined;
    const since = this.#now();
    const id = createId();
    const held: HeldCallState = {
      id,
      key,
      call,
      since,
      until: since + waitMs,
      timer: setTimeout(() => this.#end(held, 'late'), waitMs).unref(),
      waiter: undefined,
      decided: undefined,
    };
    this.#calls.set(id, held);
    return held;
  }

  #end(held: HeldCallState, decision: CallDecision): void {
    this.#remove(held);
    held.waiter?.resolve(decision);
  }

  #remove({ id, timer }: HeldCallState): void {
    clearTimeout(timer);
    this.#calls.delete(id);
  }
}

function toHeldCall({ id, call, since, until, waiter }: HeldCallState): HeldCall {
  return { id, call, since, until, isOpen: waiter !== undefined };
}

/** The characters of an id. Letters and digits that look alike are left out, because people type the id. */
const ID_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

function createId(): string {
  return [...randomBytes(6)].map((byte) => ID_ALPHABET[byte % ID_ALPHABET.length]).join('');
}

function approvalKey({
  caller,
  entry,
  arguments: args,
  argumentsDigest,
  policy,
}: CallApprovalRequest): string {
  const { id, via, profile, groups, roles, tier } = caller;
  const boundValues = [
    { id, via, profile, groups, roles, tier },
    entry.upstream,
    entry.kind,
    entry.fingerprint,
    canonicalJson(args),
    argumentsDigest ?? '',
    policy,
  ];
  return createHash('sha256').update(canonicalJson(boundValues)).digest('base64url');
}
