import { isMap, isSeq, parse, parseDocument, stringify } from 'yaml';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Format } from './format.ts';

const LIMITS = { maxAliasCount: 100 } as const;

/** YAML, with a list of servers that have a name. */
export function yamlFormat(key: string): Format {
  const read = (text: string): JsonObject => {
    const value: unknown = parse(text, LIMITS);
    return isJsonObject(value) ? value : {};
  };
  return {
    servers: (text) => {
      const found = read(text)[key];
      if (found !== undefined && found !== null && !Array.isArray(found))
        throw new Error(`"${key}" is not a list`);
      const named = (Array.isArray(found) ? found : []).filter(isJsonObject);
      return new Map(
        named.flatMap((each) => (typeof each['name'] === 'string' ? [[each['name'], each]] : [])),
      );
    },
    others: (text) => {
      const root = read(text);
      const list = Array.isArray(root[key]) ? root[key] : [];
      return {
        ...root,
        [key]: list.filter((each) => !isJsonObject(each) || typeof each['name'] !== 'string'),
      };
    },
    withServer: (text, name, value) => withItem(text, key, { name, ...(isJsonObject(value) ? value : {}) }),
    withoutServer: (text, name) => withoutItem(text, key, name),
  };
}

/** The lines of each item of the list, from its hyphen to where the next thing begins. */
function items(
  text: string,
  key: string,
): readonly { readonly name: unknown; readonly from: number; readonly to: number }[] {
  const document = parseDocument(text);
  const list = document.get(key, true);
  if (!isSeq(list) || list.flow === true) return [];
  return list.items.flatMap((item) => {
    if (!isMap(item) || item.range === null || item.range === undefined) return [];
    const [start, , end] = item.range;
    const from = text.lastIndexOf('\n', start - 1) + 1;
    const to = end < text.length && text[end - 1] !== '\n' ? text.indexOf('\n', end) + 1 || text.length : end;
    return [{ name: item.get('name'), from, to }];
  });
}

function withItem(text: string, key: string, value: JsonObject): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const all = items(text, key);
  const last = all.at(-1);
  const indent = last === undefined ? '  ' : (/^\s*/.exec(text.slice(last.from))?.[0] ?? '');
  const lines = stringify([value]).trimEnd().split('\n');
  const item = lines.map((line) => `${indent}${line}${eol}`).join('');
  if (last !== undefined) {
    const before = text.slice(0, last.to);
    return `${before}${before.endsWith('\n') ? '' : eol}${item}${text.slice(last.to)}`;
  }
  const head = new RegExp(`^${key}:[ \\t]*(?:\\[\\]|null|~)?[ \\t]*(#.*)?$`, 'm').exec(text);
  if (head !== null) {
    const rest = text.slice(head.index + head[0].length).replace(/^\r?\n/, '');
    const note = head[1] === undefined ? '' : ` ${head[1]}`;
    return `${text.slice(0, head.index)}${key}:${note}${eol}${item}${rest}`;
  }
  const before = text.trim() === '' ? '' : `${text.trimEnd()}${eol}`;
  return `${before}${key}:${eol}${item}`;
}

function withoutItem(text: string, key: string, name: string): string {
  return items(text, key)
    .filter((item) => item.name === name)
    .toReversed()
    .reduce((all, { from, to }) => all.slice(0, from) + all.slice(to), text);
}
