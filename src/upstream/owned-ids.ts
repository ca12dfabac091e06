import type { ClientBehind } from '../model/client-behind.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

const MAX_IDS = 1000;

/** Whose task or page an id of a server stands for, so that what is later said of it reaches that client only. */
export class OwnedIds {
  readonly #owners = new Map<string, ClientBehind>();
  readonly #early = new Map<string, readonly (() => void)[]>();

  /** A question that shows a page names it. */
  asked(params: JsonObject | undefined, behind: ClientBehind | undefined): void {
    this.#own('elicitationId', params?.['elicitationId'], behind);
  }

  /** A result may be a task that goes on after its call. */
  answered(result: unknown, behind: ClientBehind | undefined): void {
    if (behind === undefined || !isJsonObject(result)) return;
    this.#own('taskId', taskIdOf(result), behind);
  }

  /** An error may name pages that have to be visited first. */
  refused(data: unknown, behind: ClientBehind | undefined): void {
    const pages = isJsonObject(data) ? data['elicitations'] : undefined;
    if (!Array.isArray(pages)) return;
    for (const page of pages.slice(0, MAX_PAGES)) if (isJsonObject(page)) this.asked(page, behind);
  }

  /** A server may speak of a task before it has answered the call that began it; until then nobody is told. */
  tell(method: string, params: JsonObject | undefined): void {
    for (const kind of ['taskId', 'elicitationId'] as const) {
      const id = params?.[kind];
      if (typeof id !== 'string') continue;
      const key = `${kind} ${id}`;
      const owner = this.#owners.get(key);
      if (owner === undefined) this.#keep(key, () => this.#owners.get(key)?.tell?.(method, params));
      else owner.tell?.(method, params);
      return;
    }
  }

  #keep(key: string, tell: () => void): void {
    const early = this.#early.get(key) ?? [];
    if (early.length >= MAX_EARLY || (early.length === 0 && this.#early.size >= MAX_EARLY)) return;
    this.#early.set(key, [...early, tell]);
  }

  #own(kind: 'taskId' | 'elicitationId', id: unknown, behind: ClientBehind | undefined): void {
    if (typeof id !== 'string' || behind === undefined) return;
    const key = `${kind} ${id}`;
    // The newest is kept longest.
    this.#owners.delete(key);
    this.#owners.set(key, behind);
    const early = this.#early.get(key) ?? [];
    this.#early.delete(key);
    for (const tell of early) tell();
    if (this.#owners.size <= MAX_IDS) return;
    for (const oldest of this.#owners.keys()) {
      this.#owners.delete(oldest);
      return;
    }
  }
}

const MAX_PAGES = 20;
const MAX_EARLY = 20;

/** The id of the task that a result stands for, in the words of either era. */
export function taskIdOf(result: JsonObject): unknown {
  if (isJsonObject(result['task'])) return result['task']['taskId'];
  return result['resultType'] === 'task' ? result['taskId'] : undefined;
}
