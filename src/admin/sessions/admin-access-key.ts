import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { deriveKey } from '../../core/lib/derive-key.ts';

/** The gateways that share a secret and accept each other's admin keys. */
export interface KeyFleet {
  readonly secret: Buffer;
  /** The id of this gateway. */
  readonly self: string;
  isRunning(id: string): boolean;
}

const FLEET_KEY = /^tladmin_([a-z2-7]{8})_[\w-]{43}$/;

/** The admin key, which changes with each start. In a fleet, every gateway accepts the keys of all running gateways. */
export class AdminAccessKey {
  readonly text: string;
  readonly #fleet: KeyFleet | undefined;
  readonly #digest: Buffer;

  constructor(fleet: KeyFleet | undefined) {
    this.#fleet = fleet;
    this.text =
      fleet === undefined ? `tladmin_${randomBytes(32).toString('base64url')}` : fleetKey(fleet, fleet.self);
    this.#digest = digest(this.text);
  }

  matches(key: string): boolean {
    const keyDigest = digest(key);
    if (timingSafeEqual(keyDigest, this.#digest)) return true;
    const [, id] = FLEET_KEY.exec(key) ?? [];
    if (this.#fleet === undefined || id === undefined || !this.#fleet.isRunning(id)) return false;
    return timingSafeEqual(keyDigest, digest(fleetKey(this.#fleet, id)));
  }
}

/** Returns the admin key of a gateway in a fleet. The id in the key is public; the key cannot be derived from it without the secret. */
function fleetKey({ secret }: KeyFleet, id: string): string {
  return `tladmin_${id}_${deriveKey(secret, `trunkline admin key ${id}`).toString('base64url')}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
