import { splitWords } from '../lib/split-words.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';

/** Entries of `mcpServers` out of `--server NAME=URL` and `--server NAME="command args"`; references in them work as in a file. */
export function serverFlags(flags: readonly string[], cwd: string): Readonly<Record<string, JsonObject>> {
  const entries = new Map<string, JsonObject>();
  for (const flag of flags) {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(flag) ?? [];
    if (name === undefined || value.trim() === '')
      throw wrong(flag, 'write --server NAME=URL or --server NAME="command args"');
    if (entries.has(name)) throw wrong(flag, `there are two servers of the name "${name}"`);
    entries.set(name, entryOf(flag, value.trim(), cwd));
  }
  return Object.fromEntries(entries);
}

function entryOf(flag: string, value: string, cwd: string): JsonObject {
  if (/^https?:\/\//i.test(value)) return { url: value };
  const words = splitWords(value);
  if (words === undefined) throw wrong(flag, 'a quote is not closed');
  const [command, ...args] = words;
  if (command === undefined || command === '') throw wrong(flag, 'it names no command');
  return { command, args, cwd: cwd.replaceAll('${', () => '$${') };
}

function wrong(flag: string, why: string): GatewayError {
  return new GatewayError('USAGE', `--server "${flag.slice(0, 200)}" cannot be used: ${why}.`);
}
