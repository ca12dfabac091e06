import { parseDocument, positionAt, valueOf } from '../config/file/document.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** A JSON object with comments; of an empty text none. */
export function foreignJson(text: string): JsonObject {
  const clean = text.replace(/^\uFEFF/, '');
  if (clean.trim() === '') return {};
  const parsed = parseDocument(clean);
  if ('problem' in parsed) {
    const { line, column } = positionAt(clean, parsed.problem.offset);
    throw new Error(`line ${line}, column ${column}: ${parsed.problem.message}`);
  }
  const value = valueOf(parsed.root);
  return isJsonObject(value) ? value : {};
}

/** The members of an object below another, such as `mcpServers`. */
export function namedServers(
  root: JsonObject,
  ...path: readonly string[]
): readonly (readonly [string, unknown])[] {
  const found = path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), root);
  return isJsonObject(found) ? Object.entries(found) : [];
}
