import { randomUUID } from 'node:crypto';
import { Cancellation } from '../../lib/cancellation.ts';
import type { ClientBehind, TimeLimit } from '../../model/client-behind.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { reaches } from '../../model/log-level.ts';

/** What a call may tell while it runs. */
export interface Told {
  readonly progress?: (progress: JsonObject) => void;
  readonly log?: (message: JsonObject) => void;
  /** Puts a form of the server to a person; absent where there is none. */
  readonly ask?: (params: JsonObject, cancellation: Cancellation) => Promise<JsonObject>;
}

/** Who waits for an answer of the admin API: it can be told, and asked where a person sits behind it. */
export class CallerBehind implements ClientBehind {
  readonly session = `admin:${randomUUID()}`;
  readonly cancellation = new Cancellation();
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  limit: TimeLimit | undefined = undefined;
  readonly #told: Told;

  constructor(told: Told, logLevel: string | undefined) {
    this.#told = told;
    this.capabilities = told.ask === undefined ? {} : { elicitation: { form: {} } };
    this.logLevel = logLevel;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    if (method === 'roots/list') return { roots: [] };
    const { ask } = this.#told;
    if (method === 'elicitation/create' && params?.['mode'] !== 'url' && ask !== undefined) {
      this.limit?.asking(true);
      try {
        return await ask(params ?? {}, cancellation);
      } finally {
        this.limit?.asking(false);
      }
    }
    // Method not found: what a client answers that has declared no such capability.
    throw new RpcError({ code: -32601, message: this.cannotBeAsked().message });
  }

  cannotBeAsked(): GatewayError {
    const message =
      'The server asks a question, which cannot be put to a person here; call it from an MCP client.';
    return new GatewayError('QUESTION_DECLINED', message);
  }

  log(params: JsonObject): void {
    if (reaches(params['level'], this.logLevel)) this.#told.log?.(params);
  }
}
