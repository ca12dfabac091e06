import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { RequestingClient, CallDeadline } from '../../core/requesting-client.ts';
import type { JsonObject } from '../../core/json.ts';

/**
 * Represents the client that runs a script, for one tool call of the script. All calls share the client, but
 * each has its own `deadline` and `onRequestEnd`.
 */
export class ScriptCallClient implements RequestingClient {
  readonly #outer: RequestingClient;
  deadline: CallDeadline | undefined = undefined;
  onRequestEnd: (() => void) | undefined = undefined;

  readonly #callsWithQuestions: Set<ScriptCallClient>;

  /** `callsWithQuestions` holds the calls of the script that wait for the user's answer. */
  constructor(outer: RequestingClient, callsWithQuestions: Set<ScriptCallClient>) {
    this.#outer = outer;
    this.#callsWithQuestions = callsWithQuestions;
  }

  get session(): string {
    return this.#outer.session;
  }

  get capabilities(): JsonObject {
    return this.#outer.capabilities;
  }

  get isAggregated(): boolean {
    return this.#outer.isAggregated === true;
  }

  get logLevel(): string | undefined {
    return this.#outer.logLevel;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    this.deadline?.setQuestionOpen(true);
    this.#callsWithQuestions.add(this);
    // A client that disconnects leaves the questions of all calls unanswered.
    this.#outer.onRequestEnd = () => {
      for (const call of this.#callsWithQuestions) call.onRequestEnd?.();
    };
    try {
      return await this.#outer.ask(method, params, cancellation);
    } finally {
      this.#callsWithQuestions.delete(this);
      this.deadline?.setQuestionOpen(false);
    }
  }

  sendNotification(method: string, params: JsonObject | undefined): void {
    this.#outer.sendNotification?.(method, params);
  }

  log(params: JsonObject): void {
    this.#outer.log(params);
  }
}
