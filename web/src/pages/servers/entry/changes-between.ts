type JsonObject = Readonly<Record<string, unknown>>;

/** What has to be merged into an entry to make another of it: null deletes a key, what is equal is left out. */
export function changesBetween(before: JsonObject, after: JsonObject): JsonObject {
  const changes: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [own(before, key), own(after, key)];
    if (is === undefined) {
      if (was !== undefined) changes.push([key, null]);
    } else if (isObject(was) && isObject(is)) {
      const inner = changesBetween(was, is);
      if (Object.keys(inner).length > 0) changes.push([key, inner]);
    } else if (JSON.stringify(was) !== JSON.stringify(is)) changes.push([key, is]);
  }
  return Object.fromEntries(changes);
}

function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
