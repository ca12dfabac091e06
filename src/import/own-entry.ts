import { splitWords } from '../lib/split-words.ts';
import type { JsonObject } from '../model/json.ts';
import { hasText, strings } from './foreign-entry.ts';

/** How this very program can be met in a configuration. */
export interface OwnProgram {
  /** Files that are this program, such as `/usr/lib/node_modules/trunkline/dist/main.js`. */
  readonly files: readonly string[];
  /** Addresses that it listens at, such as `127.0.0.1:7332`. */
  readonly addresses: readonly string[];
}

/**
 * Whether an entry is Trunkline itself, however it is started; it must never become its own upstream. One that wraps a
 * single server stands for that server, which is what comes back.
 */
export function ownEntry(
  entry: JsonObject,
  own: OwnProgram,
): 'own' | { readonly wrapped: JsonObject } | undefined {
  if (hasText(entry['url'])) return isOwnAddress(entry['url'], own) ? 'own' : undefined;
  const command = entry['command'];
  if (!hasText(command)) return undefined;
  const words = unpacked([command, ...strings(entry['args'])]);
  const at = words.findIndex(
    (word, index) => isProgram(word, own) && words.slice(0, index).every(isLauncher),
  );
  if (at < 0) return undefined;
  const rest = words.slice(at + 1);
  if (!rest.includes('wrap')) return 'own';
  const separator = rest.indexOf('--');
  const [inner, ...args] = separator < 0 ? [] : rest.slice(separator + 1);
  if (inner === undefined) return 'own';
  const { command: _, args: __, ...others } = entry;
  const wrapped = { ...others, command: inner, ...(args.length > 0 && { args }) };
  const again = ownEntry(wrapped, own);
  return again === undefined ? { wrapped } : again;
}

/** A shell with a command line in one word is that command line. */
function unpacked(words: readonly string[]): readonly string[] {
  const [shell = ''] = words;
  const at = words.findIndex((word) => /^-\w*c$/.test(word) || /^\/c$/i.test(word));
  if (!/^(?:ba|z|da|fi)?sh$|^cmd$/.test(baseName(shell)) || at < 0) return words;
  const line = words.slice(at + 1).join(' ');
  return splitWords(line) ?? words;
}

function isProgram(word: string, { files }: OwnProgram): boolean {
  if (files.includes(word)) return true;
  const name = baseName(word);
  return /^trunkline(?:@[\w.^~*-]+)?$/.test(name) || /trunkline[\\/]dist[\\/]main\.js$/.test(word);
}

/** What may stand before a program without being one that does something of its own. */
function isLauncher(word: string): boolean {
  if (word.startsWith('-') || /^[A-Za-z_]\w*=/.test(word)) return true;
  return /^(?:npx|bunx|pnpx|pnpm|yarn|npm|bun|node|deno|nodejs|env|exec|dlx|x|run|cmd|sudo|nice|tsx)$/.test(
    baseName(word),
  );
}

function baseName(path: string): string {
  const last = path.split(/[\\/]/).at(-1) ?? path;
  return last.replace(/\.(?:exe|cmd|ps1|bat)$/i, '').toLowerCase();
}

function isOwnAddress(url: string, { addresses }: OwnProgram): boolean {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return false; // Whatever it is, it is told elsewhere.
  }
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)$/.test(parsed.hostname);
  const port = parsed.port === '' ? '80' : parsed.port;
  return (
    /^\/(?:mcp|sse)(?:\/|$)/.test(parsed.pathname) &&
    addresses.some((address) => {
      const host = address.slice(0, address.lastIndexOf(':'));
      const isPort = address.slice(address.lastIndexOf(':') + 1) === port;
      return isPort && (isHere || host === parsed.hostname);
    })
  );
}
