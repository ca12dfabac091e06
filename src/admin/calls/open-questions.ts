import { randomUUID } from 'node:crypto';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { parseExact, stringifyExact } from '../../core/lib/exact-json.ts';
import { RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ReplicaBus } from '../../core/replica-bus.ts';

const SUBJECT = 'admin.answer';

/**
 * Tracks unanswered questions from servers by unguessable ids. In a fleet, an id starts with the id of the replica that asked, because the
 * answer may arrive at any replica.
 */
export class OpenQuestions {
  readonly #open = new Map<string, (answer: JsonObject) => void>();
  readonly #replicas: ReplicaBus | undefined;

  constructor(replicas?: ReplicaBus) {
    this.#replicas = replicas;
    replicas?.onRequest(SUBJECT, async ({ id, text }) => {
      const answer: unknown = typeof text === 'string' ? parseExact(text) : undefined;
      return { taken: this.#take(String(id), isJsonObject(answer) ? answer : { action: 'cancel' }) };
    });
  }

  /** Opens a question, calls `onOpen` with its id, and resolves with the answer. */
  ask(onOpen: (id: string) => void, cancellation: Cancellation): Promise<JsonObject> {
    const id = this.#replicas === undefined ? randomUUID() : `${this.#replicas.self}.${randomUUID()}`;
    return new Promise((resolve, reject) => {
      const abandon = (reason: Error): void => {
        this.#open.delete(id);
        reject(new RpcError({ code: -32603, message: reason.message }));
      };
      this.#open.set(id, (answer) => {
        this.#open.delete(id);
        cancellation.offCancel(abandon);
        resolve(answer);
      });
      onOpen(id);
      cancellation.onCancel(abandon);
    });
  }

  /** Passes an answer to the replica that waits for it. Resolves with false if the question is no longer open. */
  async answer(id: string, answer: JsonObject): Promise<boolean> {
    const [replica = '', rest] = id.split('.');
    if (this.#replicas === undefined || rest === undefined || replica === this.#replicas.self)
      return this.#take(id, answer);
    const { taken } = await this.#replicas.request(replica, SUBJECT, { id, text: stringifyExact(answer) });
    return taken === true;
  }

  #take(id: string, answer: JsonObject): boolean {
    const take = this.#open.get(id);
    take?.(answer);
    return take !== undefined;
  }
}
