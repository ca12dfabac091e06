import type { ConfigEdit } from '../../config/file/edit-config.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

export interface MergedEntry {
  readonly entry: JsonObject;
  /** The smallest edits that make the change, so that the formatting around them stays. */
  readonly edits: readonly ConfigEdit[];
  /** Changed keys, such as `env.TOKEN`. */
  readonly changed: readonly string[];
}

type Path = ConfigEdit['path'];

/** Merges changes into the entry at a path: objects member by member, null deletes, everything else replaces. */
export function mergeEntry(current: JsonObject, changes: JsonObject, path: Path): MergedEntry {
  const edits: ConfigEdit[] = [];
  const entry = mergeObject(current, changes, path, edits);
  const changed = edits.map((edit) => edit.path.slice(path.length).join('.'));
  return { entry, edits, changed };
}

function mergeObject(current: JsonObject, changes: JsonObject, path: Path, edits: ConfigEdit[]): JsonObject {
  const members = new Map(Object.entries(current));
  for (const [key, change] of Object.entries(changes)) {
    const memberPath: Path = [...path, key];
    const before = members.get(key);
    if (change === null || change === undefined) {
      if (members.delete(key)) edits.push({ path: memberPath, value: undefined });
    } else if (isJsonObject(change) && isJsonObject(before)) {
      members.set(key, mergeObject(before, change, memberPath, edits));
    } else {
      const value = removeNulls(change);
      if (before !== undefined && canonicalJson(before) === canonicalJson(value)) continue;
      members.set(key, value);
      edits.push({ path: memberPath, value });
    }
  }
  return Object.fromEntries(members);
}

/** Removes the nulls from a new object, which has no members to delete. */
function removeNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, removeNulls(member)]])),
  );
}
