import { randomUUID } from 'node:crypto';
import type { Cancellation } from '../../lib/cancellation.ts';
import { RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';

/** Questions of servers that wait for a person, by ids that nobody can guess. */
export class OpenQuestions {
  readonly #open = new Map<string, (answer: JsonObject) => void>();

  /** `tell` gets the id with which the answer comes back. */
  ask(tell: (id: string) => void, cancellation: Cancellation): Promise<JsonObject> {
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      const giveUp = (reason: Error): void => {
        this.#open.delete(id);
        reject(new RpcError({ code: -32603, message: reason.message }));
      };
      this.#open.set(id, (answer) => {
        this.#open.delete(id);
        cancellation.offCancel(giveUp);
        resolve(answer);
      });
      tell(id);
      cancellation.onCancel(giveUp);
    });
  }

  /** False when nobody waits for it any more. */
  answer(id: string, answer: JsonObject): boolean {
    const take = this.#open.get(id);
    take?.(answer);
    return take !== undefined;
  }
}
