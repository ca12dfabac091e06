import type { ConfigEdit } from '../config/file/edit.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

export interface MergedEntry {
  readonly entry: JsonObject;
  /** The least that has to be written, so that everything around stays as it is. */
  readonly edits: readonly ConfigEdit[];
  /** As `env.TOKEN`. */
  readonly changed: readonly string[];
}

type Path = ConfigEdit['path'];

/** Merges changes into an entry: objects member by member, null deletes, everything else replaces. */
export function mergeEntry(current: JsonObject, changes: JsonObject, at: Path): MergedEntry {
  const edits: ConfigEdit[] = [];
  const entry = merged(current, changes, at, edits);
  const changed = edits.map(({ path }) => path.slice(at.length).join('.'));
  return { entry, edits, changed };
}

function merged(current: JsonObject, changes: JsonObject, path: Path, edits: ConfigEdit[]): JsonObject {
  const members = new Map(Object.entries(current));
  for (const [key, change] of Object.entries(changes)) {
    const own: Path = [...path, key];
    const before = members.get(key);
    if (change === null || change === undefined) {
      if (members.delete(key)) edits.push({ path: own, value: undefined });
    } else if (isJsonObject(change) && isJsonObject(before)) {
      members.set(key, merged(before, change, own, edits));
    } else {
      const value = withoutNulls(change);
      if (before !== undefined && canonicalJson(before) === canonicalJson(value)) continue;
      members.set(key, value);
      edits.push({ path: own, value });
    }
  }
  return Object.fromEntries(members);
}

/** What is deleted where nothing was is not there. */
function withoutNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (each === null ? [] : [[key, withoutNulls(each)]])),
  );
}
