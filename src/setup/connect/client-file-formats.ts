import { parse as parseToml, stringify as stringifyToml } from 'smol-toml';
import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument as parseYamlDocument,
  stringify as stringifyYaml,
} from 'yaml';
import { parseDocument, readNodeValue } from '../../config/file/document.ts';
import { setMember } from '../../config/file/set-member.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { parseClientYaml } from '../import/client-json.ts';

/** Reads and writes the servers in one kind of client file. Everything around a change keeps its formatting. */
export interface ClientFileFormat {
  /** Returns the servers as they are written, by name. Throws if the text does not have this format. */
  readServers(text: string): ReadonlyMap<string, unknown>;
  /** Returns everything except the servers, to check that it has not changed. */
  readOthers(text: string): unknown;
  /** Whether `setServer` replaces an existing server; otherwise it must be removed first. */
  readonly canReplace: boolean;
  setServer(text: string, name: string, value: unknown): string;
  removeServer(text: string, name: string): string;
}

/** Returns the format of a JSON file with comments that has an object of servers at the path. */
export function jsonFormat(path: readonly [string, ...string[]]): ClientFileFormat {
  const label = path.join('.');
  return {
    readServers: (text) => {
      const servers = path.reduce<unknown>(
        (value, key) => (isJsonObject(value) ? value[key] : undefined),
        readJson(text),
      );
      if (servers !== undefined && !isJsonObject(servers)) throw new Error(`"${label}" is not an object`);
      return new Map(Object.entries(servers ?? {}));
    },
    canReplace: true,
    readOthers: (text) => omitPath(readJson(text), path),
    setServer: (text, name, value) => setMember(text.trim() === '' ? '{\n}\n' : text, [...path, name], value),
    removeServer: (text, name) => setMember(text, [...path, name], undefined),
  };
}

/** Returns the object without the member at the path. Also omits each object on the path that has no other members. */
function omitPath(value: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const { [key]: member, ...others } = value;
  const inner = rest.length > 0 && isJsonObject(member) ? omitPath(member, rest) : {};
  return Object.keys(inner).length === 0 ? others : { ...others, [key]: inner };
}

function readJson(text: string): JsonObject {
  if (text.trim() === '') return {};
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  const value = readNodeValue(parsed.root);
  return isJsonObject(value) ? value : {};
}

/** Returns the format of a TOML file that has a table per server below `key`. */
export function tomlFormat(key: string): ClientFileFormat {
  return {
    readServers: (text) => {
      const servers = parseToml(text)[key];
      return new Map(isJsonObject(servers) ? Object.entries(servers) : []);
    },
    canReplace: false,
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
    // The line may still end with the carriage return of Windows.
    parsed = parseToml(line.trimEnd());
  } catch {
    return false; // The line only looks like a table header.
  }
  const servers = isJsonObject(parsed) ? parsed[key] : undefined;
  return isJsonObject(servers) && Object.hasOwn(servers, name);
}

/** Returns the format of a YAML file that has a list of named servers, or a map of servers, under `key`. */
export function yamlFormat(key: string, kind: 'list' | 'map'): ClientFileFormat {
  return {
    readServers: (text) =>
      new Map(kind === 'list' ? listItems(text, key) : Object.entries(mapItems(text, key))),
    canReplace: false,
    readOthers: (text) => {
      const root = parseClientYaml(text);
      if (kind === 'map') return { ...root, [key]: undefined };
      const list: readonly unknown[] = Array.isArray(root[key]) ? root[key] : [];
      const unnamed = list.filter((item) => !isJsonObject(item) || typeof item['name'] !== 'string');
      return { ...root, [key]: unnamed };
    },
    setServer: (text, name, value) => {
      const item = isJsonObject(value) ? value : {};
      return addItem(text, key, kind === 'list' ? [{ name, ...item }] : { [name]: item });
    },
    removeServer: (text, name) => removeItems(text, key, name),
  };
}

function listItems(text: string, key: string): readonly (readonly [string, JsonObject])[] {
  const list = parseClientYaml(text)[key];
  if (list !== undefined && list !== null && !Array.isArray(list)) throw new Error(`"${key}" is not a list`);
  return (Array.isArray(list) ? list : [])
    .filter(isJsonObject)
    .flatMap((item) => (typeof item['name'] === 'string' ? [[item['name'], item] as const] : []));
}

function mapItems(text: string, key: string): JsonObject {
  const map = parseClientYaml(text)[key] ?? {};
  if (!isJsonObject(map)) throw new Error(`"${key}" is not a map`);
  return map;
}

/** Adds an item after the last one. If there are no items, fills the empty list or map, or appends a new one to the text. */
function addItem(text: string, key: string, value: readonly JsonObject[] | JsonObject): string {
  const eol = detectEol(text);
  const last = locateItems(text, key).at(-1);
  const indent = last === undefined ? '  ' : (/^\s*/.exec(text.slice(last.from))?.[0] ?? '');
  const lines = stringifyYaml(value).trimEnd().split('\n');
  const item = lines.map((line) => `${indent}${line}${eol}`).join('');
  if (last !== undefined) {
    const before = text.slice(0, last.to);
    return `${before}${before.endsWith('\n') ? '' : eol}${item}${text.slice(last.to)}`;
  }
  const empty = new RegExp(`^${key}:[ \\t]*(?:\\[\\]|\\{\\}|null|~)?[ \\t]*(#.*)?$`, 'm').exec(text);
  if (empty !== null) {
    const rest = text.slice(empty.index + empty[0].length).replace(/^\r?\n/, '');
    const comment = empty[1] === undefined ? '' : ` ${empty[1]}`;
    return `${text.slice(0, empty.index)}${key}:${comment}${eol}${item}${rest}`;
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

interface YamlItem {
  readonly name: unknown;
  readonly from: number;
  readonly to: number;
}

/** Returns the range of each item, from the start of its first line to the start of the line after it. */
function locateItems(text: string, key: string): readonly YamlItem[] {
  const items = parseYamlDocument(text).get(key, true);
  const toItem = (name: unknown, start: number, end: number): YamlItem => {
    const from = text.lastIndexOf('\n', start - 1) + 1;
    const to = end < text.length && text[end - 1] !== '\n' ? text.indexOf('\n', end) + 1 || text.length : end;
    return { name, from, to };
  };
  if (isSeq(items) && items.flow !== true) {
    return items.items.flatMap((item) =>
      isMap(item) && item.range ? [toItem(item.get('name'), item.range[0], item.range[2])] : [],
    );
  }
  if (!isMap(items) || items.flow === true) return [];
  return items.items.flatMap(({ key: name, value }) => {
    if (!isScalar(name) || !name.range || !isNode(value) || !value.range) return [];
    return [toItem(name.value, name.range[0], value.range[2])];
  });
}

function detectEol(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
