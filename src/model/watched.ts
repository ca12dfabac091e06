import type { JsonObject } from './json.ts';

/** No URI begins like this. */
const TASK = 'task\n';

/** A task among what servers are asked for news of; a resource is there by its URI. */
export function watchedTask(id: string): string {
  return TASK + id;
}

/** What a notification of a server is news of. */
export function watchedBy({ uri, taskId }: JsonObject): string | undefined {
  if (typeof uri === 'string') return uri;
  return typeof taskId === 'string' ? watchedTask(taskId) : undefined;
}

export function splitWatched(watched: Iterable<string>): {
  readonly uris: readonly string[];
  readonly tasks: readonly string[];
} {
  const all = [...watched];
  return {
    uris: all.filter((one) => !one.startsWith(TASK)),
    tasks: all.filter((one) => one.startsWith(TASK)).map((one) => one.slice(TASK.length)),
  };
}
