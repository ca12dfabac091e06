import { randomBytes } from 'node:crypto';

import { seal, unseal } from '../../core/lib/seal.ts';
import { callerIdentity } from '../../core/caller.ts';
import type { Caller } from '../../core/caller.ts';
import { deriveKey } from '../../core/lib/derive-key.ts';
import { isJsonObject } from '../../core/json.ts';
import type { SessionFacts } from './session-facts.ts';

/** The caller and the path of a session. The sealed id does not contain them, but can be opened only with the same values. */
export interface SessionBinding {
  readonly caller: Caller;
  readonly path: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Each key seals new ids for this long. */
const KEY_MS = 7 * DAY_MS;
/** The maximum lifetime of a session. */
export const SESSION_LIFETIME_MS = 30 * DAY_MS;
/** The clocks of two replicas may differ by this much. */
const CLOCK_SKEW_MS = 5 * 60 * 1000;
const MAX_ID_CHARS = 6000;
const ID_FORMAT = /^([0-9a-z]{1,8})\.(v1\.[\w-]+)$/;

/**
 * Seals the facts of a session into its id, encrypted and authenticated, so that every replica with the same secret can continue the
 * session. Keys are derived from the secret and the week of issue; a key stays valid as long as the sessions that it has sealed.
 */
export class SealedIds {
  readonly #loadSecret: () => Promise<Buffer>;
  readonly #now: () => number;
  readonly #keys = new Map<number, Buffer>();
  #secret: Buffer | undefined;

  constructor({
    secret = () => Promise.resolve(randomBytes(32)),
    now,
  }: {
    /** Loads the secret that seals ids; if it is absent, ids are valid only in this process. */
    readonly secret?: (() => Promise<Buffer>) | undefined;
    readonly now: () => number;
  }) {
    this.#loadSecret = secret;
    this.#now = now;
  }

  /** Returns undefined if the secret is loaded, else a promise that resolves when it is. */
  ready(): Promise<void> | undefined {
    if (this.#secret !== undefined) return undefined;
    return this.#loadSecret().then((secret) => void (this.#secret ??= secret));
  }

  seal(facts: SessionFacts, binding: SessionBinding): string {
    const period = Math.floor(facts.issuedAt / KEY_MS);
    const { id: i, protocol: v, issuedAt: t, info: n, capabilities: c } = facts;
    const sealed = seal(JSON.stringify({ i, v, t, n, c }), this.#key(period), context(binding));
    return `${period.toString(36)}.${sealed}`;
  }

  /** Returns undefined if the id is malformed, was changed, has expired, or belongs to another caller or path. */
  open(id: string, binding: SessionBinding): SessionFacts | undefined {
    const [, label = '', sealed = ''] = (id.length <= MAX_ID_CHARS && ID_FORMAT.exec(id)) || [];
    const period = Number.parseInt(label, 36);
    const now = this.#now();
    // A valid session was issued less than `SESSION_LIFETIME_MS` ago and not in the future, so its key period must overlap that time.
    const isPossible =
      (period + 1) * KEY_MS > now - SESSION_LIFETIME_MS && period * KEY_MS <= now + CLOCK_SKEW_MS;
    if (!isPossible) return undefined;
    const text = unseal(sealed, this.#key(period), context(binding));
    const facts = text === undefined ? undefined : parseFacts(text);
    return facts !== undefined && facts.issuedAt > now - SESSION_LIFETIME_MS ? facts : undefined;
  }

  #key(period: number): Buffer {
    let key = this.#keys.get(period);
    if (key === undefined) {
      if (this.#secret === undefined) throw new Error('The secret for session ids has not been loaded yet.');
      this.#keys.set(period, (key = deriveKey(this.#secret, `trunkline session ${period}`)));
    }
    return key;
  }
}

function context({ caller, path }: SessionBinding): readonly string[] {
  return ['session', path, callerIdentity(caller)];
}

/** Parses an unsealed text, which another version of the gateway may have written. */
function parseFacts(text: string): SessionFacts | undefined {
  const { i: id, v: protocol, t: issuedAt, n: info, c } = JSON.parse(text) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof protocol !== 'string' || typeof issuedAt !== 'number')
    return undefined;
  const capabilities = isJsonObject(c) ? c : {};
  return { id, protocol, issuedAt, info: isJsonObject(info) ? info : undefined, capabilities };
}
