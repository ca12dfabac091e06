import { Payload } from '../../lib/payload.ts';
import type { Caller } from '../../model/caller.ts';
import { RpcError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Call, Operation } from '../../policy/call.ts';
import { taskIdOf } from '../../upstream/owned-ids.ts';

const MAX_TASKS = 5000;
const INVALID_PARAMS = -32602;
/** Methods about one task, of either era. */
const ABOUT_ONE: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']);

interface Task {
  readonly id: string;
  readonly upstream: UpstreamName;
  readonly caller: string;
}

export function isAboutTask(method: string): boolean {
  return ABOUT_ONE.has(method);
}

/** Which server works on which task, and for whom; of very many the oldest are forgotten. */
export class Tasks {
  readonly #tasks = new Map<string, Task>();

  /** A call may be answered with a task that goes on. */
  answered({ caller, operation: { upstream, kind, answer } }: Call, payload: Payload): void {
    if (kind !== 'tool' || answer !== undefined) return;
    const id = isJsonObject(payload.outline) ? taskIdOf(payload.outline) : undefined;
    if (typeof id !== 'string') return;
    this.#tasks.set(keyOf(upstream, id), { id, upstream, caller: caller.id });
    if (this.#tasks.size <= MAX_TASKS) return;
    for (const oldest of this.#tasks.keys()) {
      this.#tasks.delete(oldest);
      return;
    }
  }

  /** A request about a task, for the server that works on it. */
  operation(caller: Caller, method: string, params: JsonObject): Operation {
    return { kind: 'other', upstream: this.upstreamOf(caller, params), method, params };
  }

  /** The only server that works on such a task for this caller. */
  ownUpstreamOf(caller: Caller, id: unknown): UpstreamName | undefined {
    const own = this.#own(caller, id);
    return own.length === 1 ? own[0]?.upstream : undefined;
  }

  /** The server that works on it for this caller. */
  upstreamOf(caller: Caller, params: JsonObject): UpstreamName {
    const own = this.#own(caller, params['taskId']);
    if (own.length === 1 && own[0] !== undefined) return own[0].upstream;
    throw new RpcError({
      code: INVALID_PARAMS,
      message:
        own.length === 0
          ? 'There is no such task here.'
          : 'Tasks of several servers have this id; ask at the address of the server itself.',
    });
  }

  #own(caller: Caller, id: unknown): readonly Task[] {
    return [...this.#tasks.values()].filter((task) => task.id === id && task.caller === caller.id);
  }

  /** Whether it is known to be somebody else's. */
  isForeign(caller: Caller, upstream: UpstreamName, id: unknown): boolean {
    const owner = typeof id === 'string' ? this.#tasks.get(keyOf(upstream, id))?.caller : undefined;
    return owner !== undefined && owner !== caller.id;
  }

  /** A list of tasks of a server that several callers share, less those of others. */
  withoutForeign(caller: Caller, upstream: UpstreamName, list: Payload): Payload {
    const value = list.value;
    if (!isJsonObject(value) || !Array.isArray(value['tasks'])) return list;
    const tasks = value['tasks'].filter(
      (task: unknown) => !isJsonObject(task) || !this.isForeign(caller, upstream, task['taskId']),
    );
    return tasks.length === value['tasks'].length ? list : Payload.of({ ...value, tasks });
  }
}

function keyOf(upstream: UpstreamName, id: string): string {
  return `${upstream} ${id}`;
}
