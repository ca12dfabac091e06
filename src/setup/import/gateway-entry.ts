import { realpathSync } from 'node:fs';
import { parseDocument, readNodeValue } from '../../config/file/document.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import { splitShellWords } from '../../core/lib/split-shell-words.ts';
import { isNonEmptyString, toStrings } from './entry-reader.ts';

/** Identifies this program in the configuration of a client. */
export interface GatewayIdentity {
  /** Paths of this program, such as `/usr/lib/node_modules/trunkline/dist/main.js`. */
  readonly files: readonly string[];
  /** Addresses that it listens on, such as `127.0.0.1:7332`. */
  readonly addresses: readonly string[];
}

const DEFAULT_ADDRESS = '127.0.0.1:7332';

/** Returns the identity of this program, with the configured address. */
export function readGatewayIdentity(
  file: string,
  { configText, addresses = [] }: { readonly configText: string; readonly addresses?: readonly string[] },
): GatewayIdentity {
  const { address, publicUrl } = readHttpSettings(configText);
  const configured = [
    ...(address === undefined ? [] : [address]),
    ...(publicUrl === undefined ? [] : [toAddress(publicUrl)]),
  ];
  return {
    files: [...new Set([file, resolveLinks(file)])],
    addresses: [...new Set([DEFAULT_ADDRESS, ...configured, ...addresses])],
  };
}

/** Returns the URL at which clients on this machine reach the gateway that `serve --http` starts. */
export function readGatewayUrl(configText: string): string {
  const { address = DEFAULT_ADDRESS, publicUrl } = readHttpSettings(configText);
  if (publicUrl !== undefined) return publicUrl.origin;
  // A gateway that listens on all addresses is reached through the loopback address.
  return `http://${address.replace(/^(?:0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')}`;
}

function readHttpSettings(configText: string): {
  readonly address?: string | undefined;
  readonly publicUrl?: URL | undefined;
} {
  const parsed = parseDocument(configText);
  const value = 'problem' in parsed ? undefined : readNodeValue(parsed.root);
  const http = isJsonObject(value) && isJsonObject(value['http']) ? value['http'] : {};
  const { address, publicUrl } = http;
  return {
    address: typeof address === 'string' ? address : undefined,
    publicUrl: typeof publicUrl === 'string' && URL.canParse(publicUrl) ? new URL(publicUrl) : undefined,
  };
}

function toAddress({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
}

function resolveLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // If the links cannot be resolved, the path is compared as it is.
  }
}

/**
 * Detects an entry that starts or reaches Trunkline itself, which must never become its own upstream. For `trunkline wrap`, returns
 * the entry of the wrapped server instead.
 */
export function detectGatewayEntry(
  entry: JsonObject,
  identity: GatewayIdentity,
): 'own' | { readonly wrapped: JsonObject } | undefined {
  if (isNonEmptyString(entry['url'])) return isOwnAddress(entry['url'], identity) ? 'own' : undefined;
  const command = entry['command'];
  if (!isNonEmptyString(command)) return undefined;
  const words = unpackShell([command, ...toStrings(entry['args'])]);
  const programAt = words.findIndex(
    (word, index) => isOwnProgram(word, identity) && words.slice(0, index).every(isLauncher),
  );
  if (programAt < 0) return undefined;
  const rest = words.slice(programAt + 1);
  if (!rest.includes('wrap')) return 'own';
  const separator = rest.indexOf('--');
  const [wrappedCommand, ...args] = separator < 0 ? [] : rest.slice(separator + 1);
  if (wrappedCommand === undefined) return 'own';
  const { command: _, args: __, ...others } = entry;
  const wrapped = omitUndefined({
    ...others,
    command: wrappedCommand,
    args: args.length > 0 ? args : undefined,
  });
  return detectGatewayEntry(wrapped, identity) ?? { wrapped };
}

/** Whether one of our entries serves a single server (`/mcp/s/NAME`) instead of all. */
export function isSingleServerEntry({ url }: JsonObject): boolean {
  return isNonEmptyString(url) && URL.canParse(url) && new URL(url).pathname.startsWith('/mcp/s/');
}

/** Returns the words of the command line in `sh -c "…"`, or the words unchanged. */
function unpackShell(words: readonly string[]): readonly string[] {
  const [shell = ''] = words;
  const optionAt = words.findIndex((word) => /^-\w*c$/.test(word) || /^\/c$/i.test(word));
  if (!/^(?:ba|z|da|fi)?sh$|^cmd$/.test(programName(shell)) || optionAt < 0) return words;
  const line = words.slice(optionAt + 1).join(' ');
  return splitShellWords(line) ?? words;
}

function isOwnProgram(word: string, { files }: GatewayIdentity): boolean {
  if (files.includes(word)) return true;
  return (
    /^trunkline(?:@[\w.^~*-]+)?$/.test(programName(word)) || /trunkline[\\/]dist[\\/]main\.js$/.test(word)
  );
}

/** Whether a word may precede the program: a launcher such as `npx`, an option or a variable assignment. */
function isLauncher(word: string): boolean {
  if (word.startsWith('-') || /^[A-Za-z_]\w*=/.test(word)) return true;
  return /^(?:npx|bunx|pnpx|pnpm|yarn|npm|bun|node|deno|nodejs|env|exec|dlx|x|run|cmd|sudo|nice|tsx)$/.test(
    programName(word),
  );
}

function programName(path: string): string {
  const last = path.split(/[\\/]/).at(-1) ?? path;
  return last.replace(/\.(?:exe|cmd|ps1|bat)$/i, '').toLowerCase();
}

function isOwnAddress(url: string, { addresses }: GatewayIdentity): boolean {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return false; // An invalid URL is reported when the entry is checked.
  }
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)$/.test(parsed.hostname);
  const port = toAddress(parsed).slice(parsed.hostname.length + 1);
  return (
    /^\/(?:mcp|sse)(?:\/|$)/.test(parsed.pathname) &&
    addresses.some((address) => {
      const host = address.slice(0, address.lastIndexOf(':'));
      const isSamePort = address.slice(address.lastIndexOf(':') + 1) === port;
      return isSamePort && (isLocal || host === parsed.hostname);
    })
  );
}
