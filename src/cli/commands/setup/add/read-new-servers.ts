import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toProgramName } from '../../../../config/package-launcher.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { isJsonObject } from '../../../../core/json.ts';
import type { JsonObject } from '../../../../core/json.ts';
import { quoteShellWord } from '../../../../core/lib/quote-shell-word.ts';
import { splitShellWords } from '../../../../core/lib/split-shell-words.ts';
import { parseClientJson } from '../../../../setup/import/client-json.ts';
import type { ImportedServer } from '../../../../setup/import/import-source.ts';
import { parseInstallLink } from '../../../../setup/import/install-link.ts';
import { parseServerInput } from '../../../../setup/manage/server-input.ts';
import { parseRegistryServer } from '../../../../setup/registry/registry-server.ts';
import { classifyAddSource } from '../../../add-source.ts';
import type { AddSource } from '../../../add-source.ts';
import type { CliContext } from '../../../context.ts';
import type { EditableConfig } from '../editable-config.ts';
import { toClientEnvironment } from '../find-importable-servers.ts';
import type { AddOptions } from './add-flags.ts';
import { readPipedText } from './read-piped-text.ts';

/** A server that is about to be added. */
export interface NewServer extends ImportedServer {
  /** The command line as typed. Its relative paths refer to the current folder. */
  readonly words?: readonly string[];
  readonly notes?: readonly string[];
  /** The folder of the unpacked bundle, if the server is one. */
  readonly folder?: string;
  /** Unpacks the bundle and stores its secrets. Called after the confirmation. */
  readonly prepare?: () => Promise<void>;
  /** Deletes the unpacked bundle, if the entry cannot be written. */
  readonly discard?: () => Promise<void>;
}

export interface NewServers {
  readonly servers: readonly NewServer[];
  /** Where the servers come from. Absent if the user has typed or confirmed them; others are shown first. */
  readonly origin?: string;
}

interface AddScope {
  readonly options: AddOptions;
  readonly config: EditableConfig;
  readonly context: CliContext;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** Reads the servers from the command line, or from what it refers to. */
export async function readNewServers(words: readonly string[], scope: AddScope): Promise<NewServers> {
  const { context } = scope;
  const options = readNameAfterCli(words, scope.options);
  const { name, source, word } = splitWords(options.name === undefined ? words : [options.name]);
  const { url, sse, cli, fromRegistry, rest } = options;
  const given = [url, sse, cli, fromRegistry, cli === undefined ? rest : undefined, source];
  const count = given.filter((each) => each !== undefined).length;
  if (count > 1 || (typeof cli === 'string' && rest !== undefined))
    throw new GatewayError('USAGE', `The server is given more than once. ${FORMS}`);
  if (source !== undefined) return readSource(source, { name, word }, scope);
  if (count === 0) return readInput(name, scope, true);
  if (fromRegistry === undefined) return { servers: [readTypedServer(name, options)] };
  const { confirmRegistryEntry } = await import('../confirm-registry-entry.ts');
  return toRegistryServer(name, await confirmRegistryEntry(fromRegistry, options, context));
}

const FORMS =
  'Give exactly one of a URL, a command, an installation link, a file, JSON, --sse URL, --cli COMMAND or --from-registry NAME.';

interface AddWords {
  readonly name: string | undefined;
  /** The word that contains the server, and its kind. */
  readonly word: string;
  readonly source: AddSource | undefined;
}

/** In `add --cli git -- git status`, the word after `--cli` is the name. */
function readNameAfterCli(
  [first]: readonly string[],
  options: AddOptions,
): AddOptions & { readonly name?: string } {
  const { cli, rest } = options;
  const isName = first === undefined && typeof cli === 'string' && rest !== undefined;
  return isName ? { ...options, cli: true, name: cli } : options;
}

function splitWords([first, second]: readonly string[]): AddWords {
  const firstSource = classifyAddSource(first ?? '');
  const secondSource = classifyAddSource(second ?? '');
  if (firstSource !== undefined && second === undefined)
    return { name: undefined, word: first ?? '', source: firstSource };
  if (firstSource !== undefined && secondSource === undefined)
    throw new GatewayError(
      'USAGE',
      `The name comes first. Write: trunkline add ${quoteShellWord(second ?? '')} ${quoteShellWord(first ?? '')}`,
    );
  return { name: first, word: second ?? '', source: secondSource };
}

/** Reads a server that the user typed word by word. */
function readTypedServer(typedName: string | undefined, options: AddOptions): NewServer {
  const { url, sse, cli, rest } = options;
  const name = typedName ?? (cli === true ? rest?.[0] && toProgramName(rest[0]) : undefined);
  if (name === undefined)
    throw new GatewayError('USAGE', 'Missing argument: name. Run: trunkline add NAME -- COMMAND ARGS…');
  if (url !== undefined) return { name, entry: { url }, remarks: [] };
  if (sse !== undefined) return { name, entry: { type: 'sse', url: sse }, remarks: [] };
  const words = typeof cli === 'string' ? splitShellWords(cli) : splitSingleWord(rest);
  const [command, ...args] = words ?? [];
  if (command === undefined || command === '')
    throw new GatewayError(
      'USAGE',
      'A command must follow --, for example: trunkline add files -- npx -y some-server',
    );
  const entry = { command, ...(args.length > 0 && { args }), ...(cli !== undefined && { cli: true }) };
  return { name, entry, words: [command, ...args], remarks: [] };
}

/** A whole command line in quotes is split into its words. */
function splitSingleWord(words: readonly string[] = []): readonly string[] | undefined {
  const [only = '', ...others] = words;
  return others.length === 0 && /^[\w@.-]+\s+\S/.test(only) ? splitShellWords(only) : words;
}

async function readSource(
  source: AddSource,
  { name, word }: Pick<AddWords, 'name' | 'word'>,
  scope: AddScope,
): Promise<NewServers> {
  switch (source) {
    case 'url':
      return { servers: [readUrl(name, word)] };
    case 'link':
      return readLink(name, word, scope);
    case 'snippet':
      return readSnippet(word, { name, origin: 'the pasted text' }, scope);
    case 'standard-input':
      return readInput(name, scope, false);
    case 'bundle': {
      const { readBundle } = await import('./read-bundle.ts');
      return { servers: [await readBundle(name, word, scope)], origin: word };
    }
    case 'file':
      return readServerFile(name, word, scope);
  }
}

function readUrl(name: string | undefined, url: string): NewServer {
  if (/^[^?#]*\.(?:mcpb|dxt)(?:[?#]|$)/i.test(url))
    throw new GatewayError(
      'USAGE',
      'The URL leads to a bundle, which must be downloaded first. Save the file, then write: trunkline add FILE.mcpb',
    );
  if (name !== undefined) return { name, entry: { url }, remarks: [] };
  throw new GatewayError(
    'USAGE',
    `Missing argument: name. Write: trunkline add ${suggestName(url)} ${quoteShellWord(url)}`,
  );
}

/** Returns a name for the server at a URL: the characteristic part of its host. */
function suggestName(url: string): string {
  const labels = URL.canParse(url) ? new URL(url).hostname.split('.') : [];
  return labels.find((label) => /^(?!mcp$|www$|api$|\d+$)[a-z][\w-]*$/.test(label)) ?? 'NAME';
}

function readLink(name: string | undefined, link: string, scope: AddScope): NewServers {
  try {
    const linked = parseInstallLink(link);
    const text = JSON.stringify(linked.entry);
    return readSnippet(text, { name: name ?? linked.name, origin: 'the link' }, scope);
  } catch (error) {
    if (error instanceof GatewayError || !(error instanceof Error)) throw error;
    throw new GatewayError(
      'USAGE',
      `The installation link cannot be used: ${error.message}. Copy it again, or paste the JSON of the server.`,
      { cause: error },
    );
  }
}

async function readInput(
  name: string | undefined,
  scope: AddScope,
  isOptional: boolean,
): Promise<NewServers> {
  const isMissing = isOptional && scope.context.stdin.isTTY === true;
  const text = isMissing ? '' : await readPipedText(scope.context);
  if (text.trim() === '') throw new GatewayError('USAGE', `The server is missing. ${FORMS}`);
  const [line = ''] = text.trim().split('\n');
  if (/^(?:\$\s+)?\S+ (?:mcp add|--add-mcp)/.test(line))
    throw new GatewayError(
      'USAGE',
      'Standard input holds a command. Put it after trunkline add, for example: trunkline add claude mcp add …',
    );
  if (classifyAddSource(line) === 'link') return readLink(name, text.trim(), scope);
  return readSnippet(text, { name, origin: 'standard input' }, scope);
}

/** Reads the servers of a text in the format of any client. */
function readSnippet(
  text: string,
  { name, origin }: { readonly name: string | undefined; readonly origin: string },
  { config, context }: AddScope,
): NewServers {
  const environment = toClientEnvironment(context);
  const parsed = parseServerInput({ text, name }, { configFile: config.file, environment });
  const servers = parsed.map(splitWholeCommand);
  const [only, ...others] = servers;
  if (name === undefined || only === undefined) return { servers, origin };
  if (others.length === 0) return { servers: [{ ...only, name }], origin };
  throw new GatewayError(
    'USAGE',
    `There are ${servers.length} servers in ${origin}, and each has a name of its own. To add all of them, leave out the name ${quoteShellWord(name)}.`,
  );
}

/** Some links have the whole command line in `command`. */
function splitWholeCommand(server: ImportedServer): ImportedServer {
  const { command, args } = server.entry ?? {};
  if (typeof command !== 'string' || args !== undefined) return server;
  const [program, ...rest] = splitSingleWord([command]) ?? [];
  if (program === undefined || rest.length === 0) return server;
  return { ...server, entry: { ...server.entry, command: program, args: rest } };
}

/** Reads a `server.json`, in which a publisher describes a server for the registry. */
async function readServerFile(
  name: string | undefined,
  word: string,
  { options, context }: AddScope,
): Promise<NewServers> {
  const root = await readJsonFile(resolve(context.cwd, word));
  const isServerFile = Array.isArray(root['packages']) || Array.isArray(root['remotes']);
  if (!isServerFile)
    throw new GatewayError(
      'USAGE',
      `${word} is not a server.json. To import the servers of a client's file, write: trunkline import --from ${quoteShellWord(word)}`,
    );
  const server = parseRegistryServer(root);
  if (server === undefined)
    throw new GatewayError(
      'USAGE',
      `${word} cannot be used: its "name" must have the form NAMESPACE/NAME. Correct the file.`,
    );
  const { confirmRegistryServer } = await import('../confirm-registry-entry.ts');
  return toRegistryServer(name, await confirmRegistryServer(server, options, context));
}

async function readJsonFile(path: string): Promise<JsonObject> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) throw new Error('it is larger than 1 MB');
    const value: unknown = parseClientJson(await readFile(path, 'utf8'));
    return isJsonObject(value) ? value : {};
  } catch (error) {
    throw fileError(path, error);
  }
}

/** The error for a file that was named on the command line. */
export function fileError(path: string, error: unknown): GatewayError {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const reason = isMissing ? 'it does not exist' : error instanceof Error ? error.message : String(error);
  return new GatewayError('USAGE', `${path} cannot be used: ${reason}. Nothing was added.`, { cause: error });
}

function toRegistryServer(
  name: string | undefined,
  found: { readonly name: string; readonly entry: JsonObject; readonly notes: readonly string[] },
): NewServers {
  return { servers: [{ ...found, name: name ?? found.name, remarks: [] }] };
}
