import type { Cancellation } from '../../core/lib/cancellation.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { serializeNotification, serializeRequest } from '../../protocol/rpc-message.ts';
import type { RpcMessage } from '../../protocol/rpc-message.ts';

interface PendingRequest {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** The maximum number of pending requests in one session. */
const MAX_PENDING = 1000;

/** Tracks the requests of a server to clients that are connected to another replica. */
export class RemoteClientRequests {
  readonly #pending = new Map<number, PendingRequest>();
  #nextId = 1;

  /** Passes the serialized request to `send`, and resolves with the client's result. A cancellation rejects, and notifies the client. */
  request(
    { method, params }: { readonly method: string; readonly params: JsonObject | undefined },
    cancellation: Cancellation,
    send: (text: string) => void,
  ): Promise<JsonObject> {
    if (this.#pending.size >= MAX_PENDING)
      throw new GatewayError(
        'UPSTREAM_BUSY',
        `${MAX_PENDING} requests to clients of another gateway are already pending.`,
      );
    const id = this.#nextId++;
    return new Promise<JsonObject>((resolve, reject) => {
      const onCancel = (reason: Error): void => {
        if (!this.#pending.delete(id)) return;
        send(serializeNotification('notifications/cancelled', { requestId: id, reason: reason.message }));
        reject(reason);
      };
      const removeListener = (): void => cancellation.offCancel(onCancel);
      this.#pending.set(id, {
        resolve: (result) => {
          removeListener();
          resolve(result);
        },
        reject: (error) => {
          removeListener();
          reject(error);
        },
      });
      send(serializeRequest(id, method, params));
      cancellation.onCancel(onCancel);
    });
  }

  /** Settles the request that the response belongs to. Ignores a response to an unknown or cancelled request. */
  handleResponse(message: RpcMessage & { readonly kind: 'result' | 'error' }): void {
    const { id } = message;
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined) return;
    this.#pending.delete(id as number); // Only a numeric id has a pending request.
    if (message.kind === 'error') return pending.reject(new RpcError(message.error));
    const { value } = message.payload;
    pending.resolve(isJsonObject(value) ? value : {});
  }

  /** Fails all pending requests. */
  close(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
