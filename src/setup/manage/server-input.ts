import { findEntryProblem } from '../../config/read-server-entry.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { parseClientJson } from '../import/client-json.ts';
import { convertClientEntry } from '../import/convert-client-entry.ts';
import { isNonEmptyString, toStrings } from '../import/entry-reader.ts';
import { editorDialect, readEditorInputs, replaceVariables, shellDialect } from '../import/dialect.ts';
import type { Dialect } from '../import/dialect.ts';
import type { ClientEnvironment, ImportedServer, SourceContext } from '../import/import-source.ts';
import { readAsClient } from '../import/sources/sources.ts';

/** Servers to add: a text that was pasted, or entries by name. */
export interface ServerInput {
  readonly text?: string | undefined;
  readonly servers?: JsonObject | undefined;
  /** Name of a single entry that has none. */
  readonly name?: string | undefined;
}

const MAX_CHARACTERS = 256 * 1024;
const MAX_SERVERS = 200;
/** The keys under which clients store their servers. */
const SERVER_MAPS = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'];
/** Variables of editors that look like references to environment variables. */
const EDITOR_VARIABLE = /\$\{(?:userHome|workspaceFolder\w*|pathSeparator|\/)\}/;
/** Keys that only our format has. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'cli',
  'share',
  'idle',
  'era',
  'limits',
  'redact',
  'argumentRules',
]);

/** Parses servers in the format of any client. Each one has its entry or a problem. */
export function parseServerInput(
  { text, servers, name }: ServerInput,
  { configFile, environment }: { readonly configFile: string; readonly environment: ClientEnvironment },
): readonly ImportedServer[] {
  if ((text === undefined) === (servers === undefined)) {
    throw inputError(
      'Give the servers to add: either as entries by name, or as the text of a configuration.',
    );
  }
  const context: SourceContext = { path: configFile, scope: 'user', environment };
  const parsed =
    text === undefined ? parseRoot({ ...servers }, name, context) : parseText(text, name, context);
  if (parsed.length === 0) {
    throw inputError('The input contains no server. Give one as {"NAME": {"command": "…"}}.');
  }
  if (parsed.length > MAX_SERVERS) {
    throw inputError(`At most ${MAX_SERVERS} servers can be added at once.`);
  }
  return parsed;
}

function parseText(
  text: string,
  name: string | undefined,
  context: SourceContext,
): readonly ImportedServer[] {
  if (text.length > MAX_CHARACTERS) {
    throw inputError(`The text is longer than ${MAX_CHARACTERS} characters.`);
  }
  const content = removeCodeFence(text).trim();
  try {
    if (/^\s*\[mcp_servers\b/m.test(content)) return readAsClient('codex', content, context);
    if (/^mcpServers:\s*$/m.test(content)) return readAsClient('continue', content, context);
    // Documentation often shows the members without the braces around them.
    return parseRoot(parseClientJson(content.startsWith('"') ? `{${content}}` : content), name, context);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const [reason = ''] = error instanceof Error ? error.message.split('\n') : [String(error)];
    throw inputError(`The text cannot be parsed: ${reason}.`);
  }
}

/** Removes the Markdown fence of text that was copied from a chat. */
function removeCodeFence(text: string): string {
  return /^\s*```\w*\n([^]*?)\n?\s*```\s*$/.exec(text)?.[1] ?? text;
}

function parseRoot(
  root: JsonObject,
  name: string | undefined,
  context: SourceContext,
): readonly ImportedServer[] {
  const parent = isJsonObject(root['mcp']) && !isEntry(root['mcp']) ? root['mcp'] : root;
  const dialect = pastedDialect(context, parent['inputs']);
  const parse = (key: string, raw: unknown): ImportedServer => parseEntry(key, raw, dialect, context);
  if (isEntry(root)) {
    const entryName = name ?? (isNonEmptyString(root['name']) ? root['name'] : undefined);
    if (entryName === undefined)
      throw inputError('The server has no name. Give the entry as {"NAME": {…}}, or a name in addition.');
    const { name: _, inputs: __, ...entry } = root;
    return [parse(entryName, entry)];
  }
  const mapKey = SERVER_MAPS.find((key) => parent[key] !== undefined && !isEntry(parent[key]));
  const servers = mapKey === undefined ? parent : parent[mapKey];
  if (Array.isArray(servers)) {
    return servers
      .filter(isJsonObject)
      .map(({ name: itemName, ...entry }, at) =>
        parse(isNonEmptyString(itemName) ? itemName : `server-${at + 1}`, entry),
      );
  }
  return isJsonObject(servers) ? Object.entries(servers).map(([key, raw]) => parse(key, raw)) : [];
}

function isEntry(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { command, url, serverUrl, httpUrl } = value;
  const isProgram = isNonEmptyString(command) || toStrings(command).length > 0;
  return isProgram || [url, serverUrl, httpUrl].some(isNonEmptyString);
}

/** Uses an entry unchanged if it is valid in our format, as most entries are; otherwise converts it from another client's format. */
function parseEntry(name: string, raw: unknown, dialect: Dialect, context: SourceContext): ImportedServer {
  if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
  const hasEditorVariables = EDITOR_VARIABLE.test(JSON.stringify(raw));
  const problem = hasEditorVariables ? undefined : findEntryProblem(name, raw, context.path);
  if (!hasEditorVariables && problem === undefined) return { name, entry: raw, remarks: [] };
  const converted = convertClientEntry(name, raw, { context, dialect });
  if (problem === undefined) return converted;
  if (converted.entry === undefined) return { name, problem, remarks: [] };
  // An invalid value of one of our own keys must be reported, and not just lost in the conversion.
  const isLossy = Object.keys(raw).some((key) => OWN_KEYS.has(key) && converted.entry?.[key] === undefined);
  return isLossy ? { name, problem, remarks: [] } : converted;
}

/** Accepts the references of shells, of editors and our own. */
function pastedDialect(context: SourceContext, inputs: unknown): Dialect {
  const editor = editorDialect(context, readEditorInputs(inputs));
  const shell = shellDialect();
  return (text) =>
    replaceVariables(text, (body) => {
      const variable = `\${${body}}`;
      if (/^(?:file|secret|keychain|cmd|op|vault|aws-sm):./.test(body)) return { text: variable };
      const isShell = /^[A-Za-z_]\w*(?::-.*)?$/s.test(body) && !EDITOR_VARIABLE.test(variable);
      return isShell ? shell(variable) : editor(variable);
    });
}

function inputError(message: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', message);
}
