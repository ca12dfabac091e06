import { randomUUID } from 'node:crypto';
import type { Cancellation } from '../../lib/cancellation.ts';
import { parseExact, stringifyExact } from '../../lib/exact-json.ts';
import { RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** The gateways on the same database, to any of which a person's answer may come. */
export interface OtherGateways {
  /** Our own name among them, without a dot. */
  readonly self: string;
  ask(gateway: string, subject: string, body: JsonObject): Promise<JsonObject>;
  answer(subject: string, answerer: (body: JsonObject) => Promise<JsonObject>): unknown;
}

const SUBJECT = 'admin.answer';

/** Questions of servers that wait for a person, by ids that nobody can guess; where there are several gateways an id names the one that asks. */
export class OpenQuestions {
  readonly #open = new Map<string, (answer: JsonObject) => void>();
  readonly #others: OtherGateways | undefined;

  constructor(others?: OtherGateways) {
    this.#others = others;
    others?.answer(SUBJECT, async ({ id, text }) => {
      const answer: unknown = typeof text === 'string' ? parseExact(text) : undefined;
      return { taken: this.#take(String(id), isJsonObject(answer) ? answer : { action: 'cancel' }) };
    });
  }

  /** `tell` gets the id with which the answer comes back. */
  ask(tell: (id: string) => void, cancellation: Cancellation): Promise<JsonObject> {
    const id = this.#others === undefined ? randomUUID() : `${this.#others.self}.${randomUUID()}`;
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
  async answer(id: string, answer: JsonObject): Promise<boolean> {
    const [gateway = '', isNamed] = id.split('.');
    if (this.#others === undefined || isNamed === undefined || gateway === this.#others.self)
      return this.#take(id, answer);
    const { taken } = await this.#others.ask(gateway, SUBJECT, { id, text: stringifyExact(answer) });
    return taken === true;
  }

  #take(id: string, answer: JsonObject): boolean {
    const take = this.#open.get(id);
    take?.(answer);
    return take !== undefined;
  }
}
