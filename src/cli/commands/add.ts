import { findEntryProblem } from '../../config/read-server-entry.ts';
import type { SecretDestination } from '../../setup/import/import-edits.ts';
import { findPlaintextSecrets } from '../../setup/import/plaintext-secrets.ts';
import type { ApplyResult } from '../../setup/manage/change-results.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { splitShellWords } from '../../core/lib/split-shell-words.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { parseHeader } from '../parse-header.ts';
import { openTerminalPrompt, isInteractive } from './setup/terminal-prompt.ts';
import { openEditableConfig } from './setup/editable-config.ts';
import type { EditableConfig } from './setup/editable-config.ts';
import { addServers } from './setup/add-servers.ts';
import { describeStorage, noteApplied } from './setup/server-changes.ts';
import { resolveStartFolder } from './setup/start-folder.ts';
import { checkNewEntry, notePreflightProblem, tryServer } from './setup/try-server.ts';

export interface AddOptions extends GlobalOptions {
  readonly url?: string;
  readonly sse?: string;
  readonly cli?: string;
  readonly fromRegistry?: string;
  readonly registry?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly tag?: readonly string[];
  readonly references?: SecretDestination | true;
  readonly trust?: boolean;
  readonly replace?: boolean;
  readonly yes?: boolean;
  /** The words after `--`. */
  readonly rest?: readonly string[];
}

/** Adds a server to the configuration. At a terminal, connects to it at once; the exit code then reports the result. */
export async function runAdd(
  options: AddOptions,
  context: CliContext,
  [nameArgument]: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const server = await readServer(options, context, nameArgument);
  const { name } = server;
  const config = await openEditableConfig(options.config, context);
  const { entry, notes } = setStartFolder(applyFlags(server.entry, options), server, { config, context });
  const invalid = findEntryProblem(name, entry, config.file);
  if (invalid !== undefined) throw new GatewayError('USAGE', `Server "${name}" cannot be added: ${invalid}.`);
  if (config.document.servers.has(name) && options.replace !== true)
    throw new GatewayError(
      'USAGE',
      `${config.file} already has a server "${name}". Choose another name, or add --replace.`,
    );
  const isPerson = isInteractive(context);
  const trust = isPerson || options.trust === true ? 'first-sight' : 'manual';
  let applied: ApplyResult;
  {
    using prompt = options.yes === true ? undefined : openTerminalPrompt(context);
    const addition = { name, entry, secrets: findPlaintextSecrets(name, entry) };
    const { references, replace = false } = options;
    applied = await addServers(config, [addition], { trust, replace, references }, { context, prompt });
  }
  const { place, ...storage } = describeStorage(config.file, applied);
  // At a terminal, tryServer connects to the server instead.
  const preflightError = isPerson ? undefined : await checkNewEntry(name, entry, { config, context });
  const problem = preflightError && { code: preflightError.code, message: preflightError.message };
  if (out.style.format === 'json') out.json({ added: name, config: config.file, ...storage, trust, problem });
  else if (applied.state === 'unchanged') out.line(`${name} is already in ${place}`);
  else out.line(`Added ${name} to ${place}`);
  for (const note of notes) out.note(note);
  noteApplied(applied, config, context);
  if (isPerson) return tryServer(name, options, context);
  if (preflightError !== undefined) notePreflightProblem(name, preflightError, context);
  return 0;
}

interface NewServer {
  readonly name: string;
  readonly entry: JsonObject;
  readonly notes: readonly string[];
  /** The command line as typed. Its relative paths refer to the current folder. */
  readonly words?: readonly string[];
}

/** Adds the `cwd` that relative paths in the command need, and a note about it. */
function setStartFolder(
  entry: JsonObject,
  { notes, words }: NewServer,
  { config, context }: { readonly config: EditableConfig; readonly context: CliContext },
): Pick<NewServer, 'entry' | 'notes'> {
  const { cwd, platform } = context;
  const folder = words && resolveStartFolder(words, { cwd, platform, file: config.file });
  if (folder === undefined) return { entry, notes };
  const note = `The server will be started in ${cwd}, because ${quoteShellWord(folder.word)} is there. Its entry has this folder as "cwd".`;
  return { entry: { ...entry, cwd: folder.cwd }, notes: [...notes, note] };
}

async function readServer(
  options: AddOptions,
  context: CliContext,
  name: string | undefined,
): Promise<NewServer> {
  const { url, sse, cli, fromRegistry, rest } = options;
  const sources = [url, sse, cli, fromRegistry, rest].filter((source) => source !== undefined);
  if (sources.length !== 1)
    throw new GatewayError(
      'USAGE',
      `${sources.length === 0 ? 'The server is missing' : 'The server is given more than once'}. Give exactly one of -- COMMAND ARGS…, --url URL, --sse URL, --cli COMMAND or --from-registry NAME.`,
    );
  if (fromRegistry !== undefined) {
    const { confirmRegistryEntry } = await import('./setup/confirm-registry-entry.ts');
    const found = await confirmRegistryEntry(fromRegistry, options, context);
    return { ...found, name: name ?? found.name };
  }
  if (name === undefined)
    throw new GatewayError('USAGE', 'Missing argument: name. Run: trunkline add NAME -- COMMAND ARGS…');
  return { name, ...readServerFlags(options), notes: [] };
}

function readServerFlags({ url, sse, cli, rest }: AddOptions): Pick<NewServer, 'entry' | 'words'> {
  if (url !== undefined) return { entry: { url } };
  if (sse !== undefined) return { entry: { type: 'sse', url: sse } };
  const words = cli === undefined ? rest : splitShellWords(cli);
  const [command, ...args] = words ?? [];
  if (command === undefined || command === '')
    throw new GatewayError(
      'USAGE',
      'A command must follow --, for example: trunkline add files -- npx -y some-server',
    );
  const entry = omitUndefined({
    command,
    args: args.length > 0 ? args : undefined,
    cli: cli === undefined ? undefined : true,
  });
  return { entry, words: [command, ...args] };
}

function applyFlags(entry: JsonObject, options: AddOptions): JsonObject {
  const env = parseVariables(options.env);
  const headers =
    options.header &&
    Object.fromEntries(options.header.map(parseHeader).map(({ name, value }) => [name, value]));
  const isProgram = entry['command'] !== undefined;
  if (isProgram && headers !== undefined)
    throw new GatewayError(
      'USAGE',
      '--header requires a server at a URL. For a program, use --env NAME=VALUE.',
    );
  if (!isProgram && env !== undefined)
    throw new GatewayError(
      'USAGE',
      '--env requires a program. For a server at a URL, use --header NAME=VALUE.',
    );
  const { env: entryEnv, headers: entryHeaders, tags } = entry;
  return omitUndefined({
    ...entry,
    env: env === undefined ? entryEnv : { ...(entryEnv as JsonObject | undefined), ...env },
    headers:
      headers === undefined ? entryHeaders : { ...(entryHeaders as JsonObject | undefined), ...headers },
    tags: options.tag ?? tags,
  });
}

function parseVariables(flags: readonly string[] | undefined): JsonObject | undefined {
  if (flags === undefined) return undefined;
  return Object.fromEntries(
    flags.map((flag) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(flag) ?? [];
      // The value may be a secret, so the message does not repeat it.
      if (name === undefined || value === undefined)
        throw new GatewayError('USAGE', '--env needs a name and a value. Write --env NAME=VALUE.');
      return [name, value];
    }),
  );
}
