import type { ServerResponse } from 'node:http';
import type { AuthenticatedCaller } from '../../auth/downstream/auth-result.ts';
import { SwapRemoveSet, NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import { onResponseClosed } from '../../protocol/http/http-io.ts';

interface AuthenticatedResponse extends SetMember {
  readonly response: ServerResponse;
  readonly caller: string;
  readonly expiresAt: number;
}

/** Maximum time that a call may continue after its caller's credentials have expired. Streams get no extra time. */
const GRACE_MS = 600_000;

/** Tracks open responses by caller, so that they can be closed when the caller's credentials expire or are revoked. */
export class AuthenticatedResponses {
  readonly #open = new SwapRemoveSet<AuthenticatedResponse>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(
    response: ServerResponse,
    { caller, expiresAt = Infinity }: AuthenticatedCaller,
    isStream: boolean,
  ): void {
    const entry: AuthenticatedResponse = {
      index: NOT_IN_SET,
      response,
      caller: caller.id,
      expiresAt: expiresAt + (isStream ? 0 : GRACE_MS),
    };
    this.#open.add(entry);
    onResponseClosed(response, () => this.#open.delete(entry));
  }

  /** Closes the responses of a caller whose credentials were revoked. */
  closeFor(caller: string): void {
    for (const entry of this.#open) if (entry.caller === caller) entry.response.destroy();
  }

  closeExpired(): void {
    const now = this.#now();
    for (const { response, expiresAt } of this.#open) if (expiresAt <= now) response.destroy();
  }
}
