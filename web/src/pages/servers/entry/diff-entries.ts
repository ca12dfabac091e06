type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the changes that turn one entry into another as a JSON merge patch: null deletes a key, and equal values are omitted. */
export function diffEntries(before: JsonObject, after: JsonObject): JsonObject {
  const changes: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [oldValue, newValue] = [ownValue(before, key), ownValue(after, key)];
    if (newValue === undefined) {
      if (oldValue !== undefined) changes.push([key, null]);
    } else if (isObject(oldValue) && isObject(newValue)) {
      const inner = diffEntries(oldValue, newValue);
      if (Object.keys(inner).length > 0) changes.push([key, inner]);
    } else if (JSON.stringify(oldValue) !== JSON.stringify(newValue)) changes.push([key, newValue]);
  }
  return Object.fromEntries(changes);
}

function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
