import type { Cancellation } from '../../lib/cancellation.ts';
import type { ClientBehind, TimeLimit } from '../../model/client-behind.ts';
import type { JsonObject } from '../../model/json.ts';

/** The client of a script as one of its calls sees it: each call has listeners of its own. */
export class InnerClient implements ClientBehind {
  readonly #outer: ClientBehind;
  limit: TimeLimit | undefined = undefined;
  onLeft: (() => void) | undefined = undefined;

  readonly #asking: Set<InnerClient>;

  /** `asking` holds the calls of the script whose questions are open. */
  constructor(outer: ClientBehind, asking: Set<InnerClient>) {
    this.#outer = outer;
    this.#asking = asking;
  }

  get session(): string {
    return this.#outer.session;
  }

  get capabilities(): JsonObject {
    return this.#outer.capabilities;
  }

  get logLevel(): string | undefined {
    return this.#outer.logLevel;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    this.limit?.asking(true);
    this.#asking.add(this);
    // The client leaves with the questions of all calls at once.
    this.#outer.onLeft = () => {
      for (const each of this.#asking) each.onLeft?.();
    };
    try {
      return await this.#outer.ask(method, params, cancellation);
    } finally {
      this.#asking.delete(this);
      this.limit?.asking(false);
    }
  }

  tell(method: string, params: JsonObject | undefined): void {
    this.#outer.tell?.(method, params);
  }

  log(params: JsonObject): void {
    this.#outer.log(params);
  }
}
