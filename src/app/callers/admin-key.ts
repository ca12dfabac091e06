import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { deriveKey } from '../../lib/derived-key.ts';

/** The gateways that share a secret, as far as their keys need them. */
export interface KeyFleet {
  readonly secret: Buffer;
  readonly self: string;
  /** Whether a gateway of that id runs. */
  isThere(id: string): boolean;
}

const FORM = /^tladmin_([a-z2-7]{8})_[\w-]{43}$/;

/** The key of the operator, new at each start. In a fleet every gateway knows the keys of those that run. */
export class AdminKey {
  readonly text: string;
  readonly #fleet: KeyFleet | undefined;
  readonly #digest: Buffer;

  constructor(fleet: KeyFleet | undefined) {
    this.#fleet = fleet;
    this.text =
      fleet === undefined ? `tladmin_${randomBytes(32).toString('base64url')}` : keyOf(fleet, fleet.self);
    this.#digest = digest(this.text);
  }

  is(shown: string): boolean {
    const given = digest(shown);
    if (timingSafeEqual(given, this.#digest)) return true;
    const [, id] = FORM.exec(shown) ?? [];
    if (this.#fleet === undefined || id === undefined || !this.#fleet.isThere(id)) return false;
    return timingSafeEqual(given, digest(keyOf(this.#fleet, id)));
  }
}

/** Whoever does not have the secret learns nothing from the id, which is none. */
function keyOf({ secret }: KeyFleet, id: string): string {
  return `tladmin_${id}_${deriveKey(secret, `trunkline admin key ${id}`).toString('base64url')}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
