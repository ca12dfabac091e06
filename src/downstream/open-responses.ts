import { Crowd } from '../lib/crowd.ts';
import type { Member } from '../lib/crowd.ts';
import type { GatewayError } from '../model/errors.ts';

/** A response that has begun or will; it leaves the set when its connection is done with it. */
export interface OpenResponse extends Member {
  tick(): void;
  end(reason: GatewayError): void;
  destroy(): void;
}

export class OpenResponses {
  readonly #open = new Crowd<OpenResponse>();
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

  /** Ends all; what a client has not taken after the grace is cut off. */
  async close(reason: GatewayError, graceMs: number): Promise<void> {
    for (const response of this.#open) response.end(reason);
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
