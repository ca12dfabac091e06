import { parse as parseYaml } from 'yaml';
import { parseDocument, readNodeValue, toPosition } from '../../config/file/document.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** Parses a JSON object with comments. An empty text is an empty object. */
export function parseClientJson(text: string): JsonObject {
  const content = text.replace(/^\uFEFF/, '');
  if (content.trim() === '') return {};
  const parsed = parseDocument(content);
  if ('problem' in parsed) {
    const { line, column } = toPosition(content, parsed.problem.offset);
    throw new Error(`line ${line}, column ${column}: ${parsed.problem.message}`);
  }
  const value = readNodeValue(parsed.root);
  return isJsonObject(value) ? value : {};
}

/** Parses a YAML map. */
export function parseClientYaml(text: string): JsonObject {
  // The limit prevents nested aliases in a malicious file from expanding without bound.
  const root: unknown = parseYaml(text, { maxAliasCount: 100 });
  return isJsonObject(root) ? root : {};
}

/** Returns the members of the object at a path, such as `mcpServers`. */
export function listServerEntries(
  root: JsonObject,
  ...path: readonly string[]
): readonly (readonly [string, unknown])[] {
  const servers = path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), root);
  return isJsonObject(servers) ? Object.entries(servers) : [];
}
