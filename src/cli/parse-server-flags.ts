import { splitShellWords } from '../core/lib/split-shell-words.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';

/** Converts `--server NAME=URL` and `--server NAME="command args"` to entries of `mcpServers`, in which references work as in a file. */
export function parseServerFlags(
  flags: readonly string[],
  cwd: string,
): Readonly<Record<string, JsonObject>> {
  const entries = new Map<string, JsonObject>();
  for (const flag of flags) {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(flag) ?? [];
    if (name === undefined || value.trim() === '')
      throw flagError(flag, 'write --server NAME=URL or --server NAME="command args"');
    if (entries.has(name)) throw flagError(flag, `two servers have the name "${name}"`);
    entries.set(name, parseServerValue(flag, value.trim(), cwd));
  }
  return Object.fromEntries(entries);
}

function parseServerValue(flag: string, value: string, cwd: string): JsonObject {
  if (/^https?:\/\//i.test(value)) return { url: value };
  const words = splitShellWords(value);
  if (words === undefined) throw flagError(flag, 'a quote is not closed');
  const [command, ...args] = words;
  if (command === undefined || command === '') throw flagError(flag, 'the command is empty');
  return { command, args, cwd: cwd.replaceAll('${', () => '$${') };
}

function flagError(flag: string, reason: string): GatewayError {
  return new GatewayError('USAGE', `--server "${flag.slice(0, 200)}" cannot be used: ${reason}.`);
}
