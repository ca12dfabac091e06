import type { JsonObject } from './json.ts';

/** The prefix of task keys. It contains a line break, so no URI can begin with it. */
const TASK = 'task\n';

/** Returns the subscription key of a task. The key of a resource is its URI. */
export function taskKey(id: string): string {
  return TASK + id;
}

/** Returns the subscription key for the params of an update notification, or undefined if they name neither a resource nor a task. */
export function subscriptionKeyOf({ uri, taskId }: JsonObject): string | undefined {
  if (typeof uri === 'string') return uri;
  return typeof taskId === 'string' ? taskKey(taskId) : undefined;
}

/** Splits keys into the URIs of resources and the ids of tasks. */
export function splitSubscriptionKeys(watched: Iterable<string>): {
  readonly uris: readonly string[];
  readonly tasks: readonly string[];
} {
  const all = [...watched];
  return {
    uris: all.filter((one) => !one.startsWith(TASK)),
    tasks: all.filter((one) => one.startsWith(TASK)).map((one) => one.slice(TASK.length)),
  };
}
