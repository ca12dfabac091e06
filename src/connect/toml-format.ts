import { parse, stringify } from 'smol-toml';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Format } from './format.ts';

const HEADER = /^\s*\[[^[\]]+\]\s*(?:#.*)?\r?$/;

/** TOML, with a table per server below one key. */
export function tomlFormat(key: string): Format {
  return {
    servers: (text) => {
      const found = parse(text)[key];
      return new Map(isJsonObject(found) ? Object.entries(found) : []);
    },
    others: (text) => ({ ...(parse(text) as JsonObject), [key]: undefined }),
    withServer: (text, name, value) => {
      const eol = text.includes('\r\n') ? '\r\n' : '\n';
      const section = stringify({ [key]: { [name]: value } })
        // The table around it is not needed.
        .replace(new RegExp(`^\\[${key}\\]\\n+`), '')
        .trim();
      const before = text.trim() === '' ? '' : `${text.trimEnd()}${eol}${eol}`;
      return `${before}${section.replaceAll('\n', eol)}${eol}`;
    },
    withoutServer: (text, name) => withoutTables(text, key, name),
  };
}

/** Removes the tables of one server; comments that stand before what comes next stay with it. */
function withoutTables(text: string, key: string, name: string): string {
  const lines = text.split('\n');
  const kept: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (!isTableOf(line, key, name)) {
      kept.push(line);
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !HEADER.test(lines[end] ?? '')) end += 1;
    while (end > at + 1 && end < lines.length && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
    // One blank line between what is left is enough.
    while (end < lines.length && (lines[end] ?? '').trim() === '' && (kept.at(-1) ?? '').trim() === '')
      end += 1;
    at = end;
  }
  const after = kept.join('\n');
  return text.endsWith('\n') && !after.endsWith('\n') && after !== '' ? `${after}\n` : after;
}

function isTableOf(line: string, key: string, name: string): boolean {
  if (!HEADER.test(line)) return false;
  let parsed: unknown;
  try {
    parsed = parse(line);
  } catch {
    return false; // It only looked like the head of a table.
  }
  const found = isJsonObject(parsed) ? parsed[key] : undefined;
  return isJsonObject(found) && Object.hasOwn(found, name);
}
