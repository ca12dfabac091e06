import { SwapRemoveSet } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import type { GatewayError } from '../../core/errors.ts';

/** A response that is not complete yet. Its owner deletes it from `OpenResponses` when it is complete or its connection has closed. */
export interface OpenResponse extends SetMember {
  /** Sends a comment on a stream that has been quiet, to keep its connection open. */
  tick(): void;
  end(reason: GatewayError): void;
  destroy(): void;
}

/** Tracks the responses that are not complete yet, to keep them alive and to end them at shutdown. */
export class OpenResponses {
  readonly #open = new SwapRemoveSet<OpenResponse>();
  #onEmpty: (() => void) | undefined;

  add(response: OpenResponse): void {
    this.#open.add(response);
  }

  delete(response: OpenResponse): void {
    this.#open.delete(response);
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  tick(): void {
    for (const response of this.#open) response.tick();
  }

  endAll(reason: GatewayError): void {
    for (const response of this.#open) response.end(reason);
  }

  /** Ends all responses, and cuts off those that the client has not read within the grace period. */
  async close(reason: GatewayError, graceMs: number): Promise<void> {
    this.endAll(reason);
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    for (const response of this.#open) response.destroy();
  }
}
