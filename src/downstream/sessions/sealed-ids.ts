import { randomBytes } from 'node:crypto';

import { seal, unseal } from '../../lib/sealed.ts';
import { callerIdentity } from '../../model/caller.ts';
import type { Caller } from '../../model/caller.ts';
import { deriveKey } from '../../lib/derived-key.ts';
import { isJsonObject } from '../../model/json.ts';
import type { SessionFacts } from './session-facts.ts';

/** Whose session it is, and where; it is in no id, but without it none opens. */
export interface Bound {
  readonly caller: Caller;
  readonly path: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A key seals for this long. */
const KEY_MS = 7 * DAY_MS;
/** A session is over after this, whatever happened in it. */
export const SESSION_MS = 30 * DAY_MS;
/** So far clocks of several gateways may be apart. */
const SKEW_MS = 5 * 60 * 1000;
const MAX_LENGTH = 6000;
const FORM = /^([0-9a-z]{1,8})\.(v1\.[\w-]+)$/;

/**
 * Ids that carry their session, encrypted and authenticated, so that every gateway with the same secret can go on with it. Keys are
 * derived from the secret and the week, and are good for as long as sessions are that they have sealed.
 */
export class SealedIds {
  readonly #secret: () => Promise<Buffer>;
  readonly #now: () => number;
  readonly #keys = new Map<number, Buffer>();
  #known: Buffer | undefined;

  constructor({
    secret = () => Promise.resolve(randomBytes(32)),
    now,
  }: {
    /** Unless given, ids are of this process alone. */
    readonly secret?: (() => Promise<Buffer>) | undefined;
    readonly now: () => number;
  }) {
    this.#secret = secret;
    this.#now = now;
  }

  /** A promise until the secret is there. */
  ready(): Promise<void> | undefined {
    if (this.#known !== undefined) return undefined;
    return this.#secret().then((secret) => void (this.#known ??= secret));
  }

  seal(facts: SessionFacts, bound: Bound): string {
    const period = Math.floor(facts.issuedAt / KEY_MS);
    const { id: i, protocol: v, issuedAt: t, info: n, capabilities: c } = facts;
    return `${period.toString(36)}.${seal(JSON.stringify({ i, v, t, n, c }), this.#key(period), about(bound))}`;
  }

  /** Undefined for what is none of ours, was changed, belongs to somebody else or elsewhere, or is over. */
  open(id: string, bound: Bound): SessionFacts | undefined {
    const [, label = '', sealed = ''] = (id.length <= MAX_LENGTH && FORM.exec(id)) || [];
    const period = Number.parseInt(label, 36);
    const now = this.#now();
    const isPossible = (period + 1) * KEY_MS > now - SESSION_MS && period * KEY_MS <= now + SKEW_MS;
    if (!isPossible) return undefined;
    const text = unseal(sealed, this.#key(period), about(bound));
    const facts = text === undefined ? undefined : factsOf(text);
    return facts !== undefined && facts.issuedAt > now - SESSION_MS ? facts : undefined;
  }

  #key(period: number): Buffer {
    let key = this.#keys.get(period);
    if (key === undefined) {
      if (this.#known === undefined) throw new Error('The secret of sessions is not there yet.');
      this.#keys.set(period, (key = deriveKey(this.#known, `trunkline session ${period}`)));
    }
    return key;
  }
}

function about({ caller, path }: Bound): readonly string[] {
  return ['session', path, callerIdentity(caller)];
}

/** Nobody but us wrote it, but an earlier version of us may have. */
function factsOf(text: string): SessionFacts | undefined {
  const { i: id, v: protocol, t: issuedAt, n: info, c } = JSON.parse(text) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof protocol !== 'string' || typeof issuedAt !== 'number')
    return undefined;
  const capabilities = isJsonObject(c) ? c : {};
  return { id, protocol, issuedAt, info: isJsonObject(info) ? info : undefined, capabilities };
}
