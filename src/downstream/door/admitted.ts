import type { ServerResponse } from 'node:http';
import type { Admission } from '../../auth/downstream/verdict.ts';
import { Crowd, NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { whenClosed } from '../../wire/http/http-server.ts';

interface Open extends Member {
  readonly response: ServerResponse;
  readonly caller: string;
  readonly until: number;
}

/** What was begun in time may be finished, within reason. */
const GRACE_MS = 600_000;

/** Responses that are open, by whom they were admitted for, so that they can be cut when that ends. */
export class Admitted {
  readonly #open = new Crowd<Open>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(response: ServerResponse, { caller, until = Infinity }: Admission, isStream: boolean): void {
    const untilThen = until + (isStream ? 0 : GRACE_MS);
    const open: Open = { place: NOWHERE, response, caller: caller.id, until: untilThen };
    this.#open.add(open);
    whenClosed(response, () => this.#open.delete(open));
  }

  /** Credentials of this caller were revoked. */
  cut(caller: string): void {
    for (const open of this.#open) if (open.caller === caller) open.response.destroy();
  }

  sweep(): void {
    const now = this.#now();
    for (const { response, until } of this.#open) if (until <= now) response.destroy();
  }
}
