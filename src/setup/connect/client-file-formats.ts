import { parse as parseToml, stringify as stringifyToml } from 'smol-toml';
import {
  isMap,
  isSeq,
  parse as parseYaml,
  parseDocument as parseYamlDocument,
  stringify as stringifyYaml,
} from 'yaml';
import { parseDocument, readNodeValue } from '../../config/file/document.ts';
import { setMember } from '../../config/file/set-member.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** Reads and writes the servers in one kind of client file. Everything around a change keeps its formatting. */
export interface ClientFileFormat {
  /** Returns the servers as they are written, by name. Throws if the text does not have this format. */
  readServers(text: string): ReadonlyMap<string, unknown>;
  /** Returns everything except the servers, to check that it has not changed. */
  readOthers(text: string): unknown;
  setServer(text: string, name: string, value: unknown): string;
  removeServer(text: string, name: string): string;
}

/** JSON with comments that has an object of servers under `key`. */
export function jsonFormat(key: string): ClientFileFormat {
  return {
    readServers: (text) => {
      const servers = readJson(text)[key];
      if (servers !== undefined && !isJsonObject(servers)) throw new Error(`"${key}" is not an object`);
      return new Map(Object.entries(servers ?? {}));
    },
    readOthers: (text) => ({ ...readJson(text), [key]: undefined }),
    setServer: (text, name, value) => setMember(text.trim() === '' ? '{\n}\n' : text, [key, name], value),
    removeServer: (text, name) => setMember(text, [key, name], undefined),
  };
}

function readJson(text: string): JsonObject {
  if (text.trim() === '') return {};
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  const value = readNodeValue(parsed.root);
  return isJsonObject(value) ? value : {};
}

/** TOML that has a table per server below `key`. */
export function tomlFormat(key: string): ClientFileFormat {
  return {
    readServers: (text) => {
      const servers = parseToml(text)[key];
      return new Map(isJsonObject(servers) ? Object.entries(servers) : []);
    },
    readOthers: (text) => ({ ...(parseToml(text) as JsonObject), [key]: undefined }),
    setServer: (text, name, value) => {
      const eol = detectEol(text);
      const section = stringifyToml({ [key]: { [name]: value } })
        // Removes the header of the enclosing table, which is redundant and may already exist.
        .replace(new RegExp(`^\\[${key}\\]\\n+`), '')
        .trim();
      const before = text.trim() === '' ? '' : `${text.trimEnd()}${eol}${eol}`;
      return `${before}${section.replaceAll('\n', eol)}${eol}`;
    },
    removeServer: (text, name) => removeTables(text, key, name),
  };
}

const TABLE_HEADER = /^\s*\[[^[\]]+\]\s*(?:#.*)?\r?$/;

/** Removes the tables of one server. Comments before the next table stay. */
function removeTables(text: string, key: string, name: string): string {
  const lines = text.split('\n');
  const remaining: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (!isTableHeader(line, key, name)) {
      remaining.push(line);
      at += 1;
      continue;
    }
    // The table ends before the next header. Comments and blank lines directly before that header belong to the next table.
    let end = at + 1;
    while (end < lines.length && !TABLE_HEADER.test(lines[end] ?? '')) end += 1;
    while (end > at + 1 && end < lines.length && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
    // Leaves at most one blank line between the remaining parts.
    while (end < lines.length && (lines[end] ?? '').trim() === '' && (remaining.at(-1) ?? '').trim() === '') {
      end += 1;
    }
    at = end;
  }
  const after = remaining.join('\n');
  return text.endsWith('\n') && !after.endsWith('\n') && after !== '' ? `${after}\n` : after;
}

function isTableHeader(line: string, key: string, name: string): boolean {
  if (!TABLE_HEADER.test(line)) return false;
  let parsed: unknown;
  try {
    parsed = parseToml(line);
  } catch {
    return false; // The line only looks like a table header.
  }
  const servers = isJsonObject(parsed) ? parsed[key] : undefined;
  return isJsonObject(servers) && Object.hasOwn(servers, name);
}

/** YAML that has a list of named servers under `key`. */
export function yamlFormat(key: string): ClientFileFormat {
  return {
    readServers: (text) => {
      const list = readYaml(text)[key];
      if (list !== undefined && list !== null && !Array.isArray(list))
        throw new Error(`"${key}" is not a list`);
      const items = (Array.isArray(list) ? list : []).filter(isJsonObject);
      return new Map(
        items.flatMap((item) => (typeof item['name'] === 'string' ? [[item['name'], item]] : [])),
      );
    },
    readOthers: (text) => {
      const root = readYaml(text);
      const list: readonly unknown[] = Array.isArray(root[key]) ? root[key] : [];
      const unnamed = list.filter((item) => !isJsonObject(item) || typeof item['name'] !== 'string');
      return { ...root, [key]: unnamed };
    },
    setServer: (text, name, value) => addItem(text, key, { name, ...(isJsonObject(value) ? value : {}) }),
    removeServer: (text, name) => removeItems(text, key, name),
  };
}

function readYaml(text: string): JsonObject {
  // The limit prevents nested aliases in a malicious file from expanding without bound.
  const value: unknown = parseYaml(text, { maxAliasCount: 100 });
  return isJsonObject(value) ? value : {};
}

/** Adds an item after the last one, into an empty list, or with a new list at the end of the text. */
function addItem(text: string, key: string, value: JsonObject): string {
  const eol = detectEol(text);
  const last = locateItems(text, key).at(-1);
  const indent = last === undefined ? '  ' : (/^\s*/.exec(text.slice(last.from))?.[0] ?? '');
  const lines = stringifyYaml([value]).trimEnd().split('\n');
  const item = lines.map((line) => `${indent}${line}${eol}`).join('');
  if (last !== undefined) {
    const before = text.slice(0, last.to);
    return `${before}${before.endsWith('\n') ? '' : eol}${item}${text.slice(last.to)}`;
  }
  const emptyList = new RegExp(`^${key}:[ \\t]*(?:\\[\\]|null|~)?[ \\t]*(#.*)?$`, 'm').exec(text);
  if (emptyList !== null) {
    const rest = text.slice(emptyList.index + emptyList[0].length).replace(/^\r?\n/, '');
    const comment = emptyList[1] === undefined ? '' : ` ${emptyList[1]}`;
    return `${text.slice(0, emptyList.index)}${key}:${comment}${eol}${item}${rest}`;
  }
  const before = text.trim() === '' ? '' : `${text.trimEnd()}${eol}`;
  return `${before}${key}:${eol}${item}`;
}

function removeItems(text: string, key: string, name: string): string {
  return locateItems(text, key)
    .filter((item) => item.name === name)
    .toReversed()
    .reduce((result, { from, to }) => result.slice(0, from) + result.slice(to), text);
}

/** Returns the range of each list item, from the start of the line with its hyphen to the start of the line after it. */
function locateItems(
  text: string,
  key: string,
): readonly { readonly name: unknown; readonly from: number; readonly to: number }[] {
  const list = parseYamlDocument(text).get(key, true);
  if (!isSeq(list) || list.flow === true) return [];
  return list.items.flatMap((item) => {
    if (!isMap(item) || item.range === null || item.range === undefined) return [];
    const [start, , end] = item.range;
    const from = text.lastIndexOf('\n', start - 1) + 1;
    const to = end < text.length && text[end - 1] !== '\n' ? text.indexOf('\n', end) + 1 || text.length : end;
    return [{ name: item.get('name'), from, to }];
  });
}

function detectEol(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
