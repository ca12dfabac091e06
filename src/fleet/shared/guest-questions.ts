import type { Cancellation } from '../../lib/cancellation.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { notificationText, requestText } from '../../wire/message.ts';
import type { Message } from '../../wire/message.ts';

interface Open {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

const MAX_OPEN = 1000;

/** Questions of a server on their way to the clients of another gateway. */
export class GuestQuestions {
  readonly #open = new Map<number, Open>();
  #next = 1;

  /** `send` takes the text of a message. */
  ask(
    question: { readonly method: string; readonly params: JsonObject | undefined },
    cancellation: Cancellation,
    send: (text: string) => void,
  ): Promise<JsonObject> {
    if (this.#open.size >= MAX_OPEN)
      throw new GatewayError('UPSTREAM_BUSY', `More than ${MAX_OPEN} questions are open.`);
    const id = this.#next++;
    return new Promise<JsonObject>((resolve, reject) => {
      const onCancel = (reason: Error): void => {
        if (!this.#open.delete(id)) return;
        send(notificationText('notifications/cancelled', { requestId: id, reason: reason.message }));
        reject(reason);
      };
      const settled = (): void => cancellation.offCancel(onCancel);
      this.#open.set(id, {
        resolve: (result) => {
          settled();
          resolve(result);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      send(requestText(id, question.method, question.params));
      cancellation.onCancel(onCancel);
    });
  }

  answered(message: Message & { readonly kind: 'result' | 'error' }): void {
    const open = typeof message.id === 'number' ? this.#open.get(message.id) : undefined;
    if (open === undefined) return;
    this.#open.delete(message.id as number); // It was found by it.
    if (message.kind === 'error') return open.reject(new RpcError(message.error));
    const { value } = message.payload;
    open.resolve(isJsonObject(value) ? value : {});
  }

  close(error: Error): void {
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}
