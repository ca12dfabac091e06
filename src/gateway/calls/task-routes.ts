import { setImmediate } from 'node:timers/promises';

import { callerKey, isAuthenticated } from '../../core/caller.ts';
import type { Caller } from '../../core/caller.ts';
import { RpcError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { Logger } from '../../observability/log.ts';
import type { Call, Operation } from '../../policy/guard.ts';
import { readTaskId } from '../../upstream/id-owners.ts';
import { hashTaskId } from './task-owner-store.ts';
import type { TaskOwner, TaskOwnerStore } from './task-owner-store.ts';

/** Maximum number of task ids in memory. It matters only if there is no database or the database fails. */
const MAX_TASKS = 5000;
/** Added to the announced lifetime, because a server may keep a task for longer, and its clock may differ. */
const TTL_MARGIN_MS = 3_600_000;
/** Maximum time for which an owner is remembered. It also applies to tasks without a lifetime. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;
/** Number of ids per lookup. The event loop runs between lookups, because a server decides how long its list of tasks is. */
const LOOKUP_SIZE = 200;
const INVALID_PARAMS = -32602;
/** Methods of both protocol eras that concern one task. */
const TASK_METHODS: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
]);

type TaskRoute = Pick<TaskOwner, 'upstream' | 'owner'>;
type RoutesByUpstream = ReadonlyMap<UpstreamName, TaskRoute>;

interface TaskRoutesOptions {
  /** Stores the owners of tasks; if it is absent, they are forgotten at the end of the process. */
  readonly store?: TaskOwnerStore | undefined;
  readonly now?: () => number;
  readonly log?: Pick<Logger, 'warn'>;
}

export function isTaskMethod(method: string): boolean {
  return TASK_METHODS.has(method);
}

/** Whether a method concerns one task, including methods of other protocol revisions that a server may know. */
export function concernsTask(method: string): boolean {
  return method.startsWith('tasks/') && method !== 'tasks/list';
}

/** Returns the error for a task that does not exist or belongs to another caller. The caller must not be able to tell the difference. */
export function unknownTaskError(): RpcError {
  return new RpcError({ code: INVALID_PARAMS, message: 'There is no such task.' });
}

/**
 * Remembers which server runs which task for which caller. An authenticated caller can use only tasks that are known to be its own. An
 * unauthenticated caller can also use tasks whose owner is unknown, but only at the address of a single server.
 */
export class TaskRoutes {
  readonly #store: TaskOwnerStore | undefined;
  readonly #now: () => number;
  readonly #log: Pick<Logger, 'warn'> | undefined;
  /** The owners of this process's latest tasks, by the hash of the task id. Several servers may use the same id. */
  readonly #latest = new Map<string, readonly TaskOwner[]>();
  /** Whether the last access to the database failed, so that a failure is logged only once. */
  #isStoreUnavailable = false;

  constructor({ store, now = Date.now, log }: TaskRoutesOptions = {}) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
  }

  /**
   * Remembers the owner of the task if a tool call returned one. The promise resolves when the owner is stored in the database, because
   * the caller may send its next request to another gateway. Returns undefined for all other results.
   */
  recordResult(
    { caller, operation: { upstream, kind, handler } }: Call,
    payload: Payload,
  ): Promise<void> | undefined {
    if (kind !== 'tool' || handler !== undefined) return undefined;
    const { outline } = payload;
    if (!isJsonObject(outline)) return undefined;
    const id = readTaskId(outline);
    return typeof id === 'string' ? this.#record(caller, upstream, id, readTtl(outline)) : undefined;
  }

  /** Returns the operation for a request about a task; rejects if the caller has no such task. */
  async createOperation(caller: Caller, method: string, params: JsonObject): Promise<Operation> {
    return { kind: 'other', upstream: await this.requireUpstream(caller, params), method, params };
  }

  /** Returns the server that runs each task for this caller, by task id. Ids with no server or several servers are left out. */
  async findUpstreams(caller: Caller, ids: readonly string[]): Promise<ReadonlyMap<string, UpstreamName>> {
    const routes = await this.#findRoutes(ids);
    const upstreams = new Map<string, UpstreamName>();
    for (const id of ids) {
      const own = ownRoutes(caller, routes.get(id));
      if (own.length === 1 && own[0] !== undefined) upstreams.set(id, own[0].upstream);
    }
    return upstreams;
  }

  /** Returns the server that runs the task for this caller; rejects if there is none or more than one. */
  async requireUpstream(caller: Caller, { taskId }: JsonObject): Promise<UpstreamName> {
    if (typeof taskId !== 'string') throw unknownTaskError();
    const own = ownRoutes(caller, (await this.#findRoutes([taskId])).get(taskId));
    if (own[0] === undefined) throw unknownTaskError();
    if (own.length === 1) return own[0].upstream;
    const message =
      'Several servers have a task with this id. Send the request to the address of one of them: /mcp/s/SERVER.';
    throw new RpcError({ code: INVALID_PARAMS, message });
  }

  /** Returns the ids of the tasks at this server that the caller may use. Unauthenticated callers may use tasks whose owner is unknown. */
  async filterUsable(
    caller: Caller,
    upstream: UpstreamName,
    ids: readonly unknown[],
  ): Promise<ReadonlySet<unknown>> {
    const routes = await this.#findRoutes(ids.filter((id) => typeof id === 'string'));
    const key = callerKey(caller);
    const isUsable = (id: unknown): boolean => {
      const route = routes.get(id)?.get(upstream);
      return route === undefined ? !isAuthenticated(caller) : route.owner === key;
    };
    return new Set(ids.filter(isUsable));
  }

  /** Removes the tasks that the caller may not use from the result of `tasks/list` of a shared server. */
  async removeTasksOfOthers(caller: Caller, upstream: UpstreamName, list: Payload): Promise<Payload> {
    const value = list.value;
    if (!isJsonObject(value) || !Array.isArray(value['tasks'])) return list;
    const idOf = (task: unknown): unknown => (isJsonObject(task) ? task['taskId'] : undefined);
    const usable = await this.filterUsable(caller, upstream, value['tasks'].map(idOf));
    const tasks = value['tasks'].filter((task: unknown) => usable.has(idOf(task)));
    return tasks.length === value['tasks'].length ? list : Payload.of({ ...value, tasks });
  }

  async #record(
    caller: Caller,
    upstream: UpstreamName,
    id: string,
    ttlMs: number | undefined,
  ): Promise<void> {
    const keepMs = Math.min(MAX_AGE_MS, (ttlMs ?? MAX_AGE_MS) + TTL_MARGIN_MS);
    const task = hashTaskId(id);
    const owner = { task, upstream, owner: callerKey(caller), expiresAt: this.#now() + keepMs };
    const others = this.#latest.get(task)?.filter((each) => each.upstream !== upstream) ?? [];
    // Inserting again moves the task to the end of the map; the oldest is at the start.
    this.#latest.delete(task);
    this.#latest.set(task, [...others, owner]);
    const [oldest] = this.#latest.keys();
    if (this.#latest.size > MAX_TASKS && oldest !== undefined) this.#latest.delete(oldest);
    await this.#withStore((store) => store.save(owner));
  }

  /** Returns the known owners by task id, then by server. An owner in the database replaces the one in memory, which may be older. */
  async #findRoutes(ids: readonly string[]): Promise<ReadonlyMap<unknown, RoutesByUpstream>> {
    const routes = new Map<unknown, Map<UpstreamName, TaskRoute>>();
    for (let from = 0; from < ids.length; from += LOOKUP_SIZE) {
      if (from > 0) await setImmediate();
      const idsByTask = new Map(ids.slice(from, from + LOOKUP_SIZE).map((id) => [hashTaskId(id), id]));
      const stored = await this.#withStore((store) => store.find([...idsByTask.keys()]));
      for (const [task, id] of idsByTask) {
        const latest = this.#latest.get(task)?.filter(({ expiresAt }) => expiresAt > this.#now()) ?? [];
        routes.set(id, new Map(latest.map((route) => [route.upstream, route])));
      }
      for (const route of stored ?? []) routes.get(idsByTask.get(route.task))?.set(route.upstream, route);
    }
    return routes;
  }

  /** Resolves with undefined if there is no database or if it fails. The owners in memory are used then. */
  async #withStore<T>(work: (store: TaskOwnerStore) => Promise<T>): Promise<T | undefined> {
    if (this.#store === undefined) return undefined;
    try {
      const result = await work(this.#store);
      this.#isStoreUnavailable = false;
      return result;
    } catch (error) {
      const text =
        'The owners of tasks cannot be saved or read, so callers cannot use tasks that were created through another gateway or before this gateway started.';
      if (!this.#isStoreUnavailable) this.#log?.warn(text, { reason: String(error) });
      this.#isStoreUnavailable = true;
      return undefined;
    }
  }
}

function ownRoutes(caller: Caller, routes: RoutesByUpstream | undefined): readonly TaskRoute[] {
  const key = callerKey(caller);
  return [...(routes?.values() ?? [])].filter(({ owner }) => owner === key);
}

/** Returns the announced lifetime of a task of either era in milliseconds; undefined if the server announced none. */
function readTtl(result: JsonObject): number | undefined {
  const task = isJsonObject(result['task']) ? result['task'] : result;
  const ttlMs = task['ttlMs'] ?? task['ttl'];
  return typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : undefined;
}
