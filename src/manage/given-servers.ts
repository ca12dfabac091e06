import { entryProblem } from '../config/entry-problem.ts';
import { editorLike, replaced, shellLike } from '../import/dialect.ts';
import type { Dialect } from '../import/dialect.ts';
import { foreignEntry, hasText, strings } from '../import/foreign-entry.ts';
import { foreignJson } from '../import/foreign-text.ts';
import type { Places, Reading, ReadServer } from '../import/source.ts';
import { codex } from '../import/sources/codex.ts';
import { continueDev } from '../import/sources/continue.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** What somebody wants to add: a text that was pasted, or entries by name. */
export interface Given {
  readonly text?: string | undefined;
  readonly servers?: JsonObject | undefined;
  /** Of a single entry that has none. */
  readonly name?: string | undefined;
}

interface ReadingPlace {
  readonly configFile: string;
  readonly places: Places;
}

const MAX_CHARACTERS = 256 * 1024;
const MAX_SERVERS = 200;
/** The keys under which clients have their servers. */
const MAPS = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'];
/** What editors mean by these is not what a variable of that name would be. */
const OF_EDITORS = /\$\{(?:userHome|workspaceFolder\w*|pathSeparator|\/)\}/;

/** Reads what was given, whichever client it was written for; each server has its entry or its problem. */
export function givenServers(given: Given, place: ReadingPlace): readonly ReadServer[] {
  const { text, servers, name } = given;
  if ((text === undefined) === (servers === undefined))
    throw wrong('Give the servers to add: either as entries by name, or as the text of a configuration.');
  const read = text === undefined ? readRoot({ ...servers }, name, place) : readText(text, name, place);
  if (read.length === 0) throw wrong('There is no server in it; {"NAME": {"command": "…"}} would be one.');
  if (read.length > MAX_SERVERS) throw wrong(`At most ${MAX_SERVERS} servers can be added at once.`);
  return read;
}

function readText(text: string, name: string | undefined, place: ReadingPlace): readonly ReadServer[] {
  if (text.length > MAX_CHARACTERS) throw wrong(`The text is longer than ${MAX_CHARACTERS} characters.`);
  const plain = withoutFence(text).trim();
  const reading = readingOf(place);
  try {
    if (/^\s*\[mcp_servers\b/m.test(plain)) return codex.read(plain, reading);
    if (/^mcpServers:\s*$/m.test(plain)) return continueDev.read(plain, reading);
    // Documents often show the members alone.
    return readRoot(foreignJson(plain.startsWith('"') ? `{${plain}}` : plain), name, place);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const [reason = ''] = error instanceof Error ? error.message.split('\n') : [String(error)];
    throw wrong(`The text cannot be read: ${reason}.`);
  }
}

function readRoot(root: JsonObject, name: string | undefined, place: ReadingPlace): readonly ReadServer[] {
  const inner = isJsonObject(root['mcp']) && !isEntry(root['mcp']) ? root['mcp'] : root;
  const dialect = pastedDialect(readingOf(place), inner['inputs']);
  const one = (key: string, raw: unknown): ReadServer => readOne(key, raw, dialect, place);
  if (isEntry(root)) {
    const own = name ?? (hasText(root['name']) ? root['name'] : undefined);
    if (own === undefined) throw wrong('Say under which name the server is wanted.');
    const { name: _, ...entry } = root;
    return [one(own, entry)];
  }
  const map = MAPS.find((key) => inner[key] !== undefined && !isEntry(inner[key]));
  const found = map === undefined ? inner : inner[map];
  if (Array.isArray(found))
    return found
      .filter(isJsonObject)
      .map(({ name: own, ...entry }, at) => one(hasText(own) ? own : `server-${at + 1}`, entry));
  return isJsonObject(found) ? Object.entries(found).map(([key, raw]) => one(key, raw)) : [];
}

/** As an entry of ours where it is one, which most clients' are; else as what another client means by it. */
function readOne(name: string, raw: unknown, dialect: Dialect, place: ReadingPlace): ReadServer {
  if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
  const isForeign = OF_EDITORS.test(JSON.stringify(raw));
  const problem = isForeign ? undefined : entryProblem(name, raw, place.configFile);
  if (!isForeign && problem === undefined) return { name, entry: raw, remarks: [] };
  const foreign = foreignEntry(name, raw, { reading: readingOf(place), dialect });
  if (foreign.entry === undefined) return problem === undefined ? foreign : { name, problem, remarks: [] };
  const lost = Object.keys(raw).filter((key) => OURS.has(key) && foreign.entry?.[key] === undefined);
  // What a key of ours says wrongly must not be lost without a word.
  if (lost.length > 0 && problem !== undefined) return { name, problem, remarks: [] };
  return foreign;
}

/** Keys that no other client has. */
const OURS: ReadonlySet<string> = new Set([
  'cli',
  'share',
  'idle',
  'era',
  'limits',
  'redact',
  'argumentRules',
]);

/** References of shells, of editors and of ours. */
function pastedDialect(reading: Reading, inputs: unknown): Dialect {
  const described = Array.isArray(inputs) ? inputs.filter(isJsonObject) : [];
  const editor = editorLike(
    reading,
    new Map(
      described.flatMap(({ id, description }) =>
        hasText(id) ? [[id, hasText(description) ? description.slice(0, 200) : id] as const] : [],
      ),
    ),
  );
  const shell = shellLike();
  return (text) =>
    replaced(text, (body) => {
      const whole = `\${${body}}`;
      if (/^(?:file|keychain):./.test(body)) return { text: whole };
      const isShell = /^[A-Za-z_]\w*(?::-.*)?$/s.test(body) && !OF_EDITORS.test(whole);
      return isShell ? shell(whole) : editor(whole);
    });
}

function isEntry(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { command, url, serverUrl, httpUrl } = value;
  const isProgram = hasText(command) || strings(command).length > 0;
  return isProgram || hasText(url) || hasText(serverUrl) || hasText(httpUrl);
}

/** What is shown in a chat often comes with its fence. */
function withoutFence(text: string): string {
  return /^\s*```\w*\n([^]*?)\n?\s*```\s*$/.exec(text)?.[1] ?? text;
}

function readingOf({ configFile, places }: ReadingPlace): Reading {
  return { path: configFile, scope: 'user', places };
}

function wrong(message: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', message);
}
