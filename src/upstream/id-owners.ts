import type { RequestingClient } from '../core/requesting-client.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** Beyond this number of ids, the oldest are forgotten. */
const MAX_IDS = 1000;
/** The maximum number of elicitations that are recorded from one error. */
const MAX_ELICITATIONS = 20;
/** The maximum number of ids with early notifications, and of notifications per id. */
const MAX_EARLY = 20;

type IdKind = 'taskId' | 'elicitationId';

/** Remembers which client started a task or an elicitation, so later notifications about it reach only that client. */
export class IdOwners {
  readonly #owners = new Map<string, RequestingClient>();
  /** Notifications about ids without an owner: a server may report on a task before it answers the call that started it. */
  readonly #early = new Map<string, readonly (() => void)[]>();

  recordElicitation(params: JsonObject | undefined, owner: RequestingClient | undefined): void {
    this.#setOwner('elicitationId', params?.['elicitationId'], owner);
  }

  /** Records the owner of the task that a result starts, if it starts one. */
  recordResult(result: unknown, owner: RequestingClient | undefined): void {
    if (owner === undefined || !isJsonObject(result)) return;
    this.#setOwner('taskId', readTaskId(result), owner);
  }

  /** Records the owner of the elicitations that an error lists, which must be completed before the call is repeated. */
  recordError(data: unknown, owner: RequestingClient | undefined): void {
    const elicitations = isJsonObject(data) ? data['elicitations'] : undefined;
    if (!Array.isArray(elicitations)) return;
    for (const elicitation of elicitations.slice(0, MAX_ELICITATIONS))
      if (isJsonObject(elicitation)) this.recordElicitation(elicitation, owner);
  }

  /** Passes a notification to the owner of the id that it names, or stores it until the owner is known. */
  notifyOwner(method: string, params: JsonObject | undefined): void {
    for (const kind of ['taskId', 'elicitationId'] as const) {
      const id = params?.[kind];
      if (typeof id !== 'string') continue;
      const key = `${kind} ${id}`;
      const owner = this.#owners.get(key);
      if (owner === undefined)
        this.#storeEarly(key, () => this.#owners.get(key)?.sendNotification?.(method, params));
      else owner.sendNotification?.(method, params);
      return;
    }
  }

  #storeEarly(key: string, deliver: () => void): void {
    const early = this.#early.get(key) ?? [];
    if (early.length >= MAX_EARLY || (early.length === 0 && this.#early.size >= MAX_EARLY)) return;
    this.#early.set(key, [...early, deliver]);
  }

  #setOwner(kind: IdKind, id: unknown, owner: RequestingClient | undefined): void {
    if (typeof id !== 'string' || owner === undefined) return;
    const key = `${kind} ${id}`;
    // Deleting and inserting moves the id to the end of the map, so the first key is always the oldest.
    this.#owners.delete(key);
    this.#owners.set(key, owner);
    const early = this.#early.get(key) ?? [];
    this.#early.delete(key);
    for (const deliver of early) deliver();
    if (this.#owners.size <= MAX_IDS) return;
    for (const oldest of this.#owners.keys()) {
      this.#owners.delete(oldest);
      return;
    }
  }
}

/** Returns the id of the task that a result of either era starts. */
export function readTaskId(result: JsonObject): unknown {
  if (isJsonObject(result['task'])) return result['task']['taskId'];
  return result['resultType'] === 'task' ? result['taskId'] : undefined;
}
