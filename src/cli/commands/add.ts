import { entryProblem } from '../../config/entry-problem.ts';
import type { SecretPlace } from '../../import/apply-plan.ts';
import { plainSecrets } from '../../import/secrets.ts';
import type { Applied } from '../../manage/change-results.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { splitWords } from '../../lib/split-words.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { readHeader } from '../read-header.ts';
import { askAtTerminal, isTerminal } from './set-up/ask.ts';
import { configChange } from './set-up/config-change.ts';
import type { ConfigChange } from './set-up/config-change.ts';
import { addServers } from './set-up/plain-secrets.ts';
import { keptIn, tellApplied } from './set-up/server-verbs.ts';
import { startFolder } from './set-up/start-folder.ts';
import { foreseenProblem, tellForeseen, tryServer } from './set-up/try-server.ts';

export interface AddOptions extends GlobalOptions {
  readonly url?: string;
  readonly sse?: string;
  readonly cli?: string;
  readonly fromRegistry?: string;
  readonly registry?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly tag?: readonly string[];
  readonly references?: SecretPlace | true;
  readonly trust?: boolean;
  readonly replace?: boolean;
  readonly yes?: boolean;
  /** What followed `--`. */
  readonly rest?: readonly string[];
}

/** Adds a server to the configuration; at a terminal it is tried at once, and the exit code says how that went. */
export async function add(
  options: AddOptions,
  context: CliContext,
  [said]: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const chosen = await chosenServer(options, context, said);
  const { name } = chosen;
  const change = await configChange(options.config, context);
  const { entry, notes } = anchored(withFlags(chosen.entry, options), chosen, { change, context });
  const wrong = entryProblem(name, entry, change.file);
  if (wrong !== undefined) throw new GatewayError('USAGE', `Server "${name}" cannot be added: ${wrong}.`);
  if (change.document.servers.has(name) && options.replace !== true)
    throw new GatewayError(
      'USAGE',
      `There is a server "${name}" in ${change.file} already; take another name, or --replace it.`,
    );
  const isPerson = isTerminal(context);
  const trust = isPerson || options.trust === true ? 'first-sight' : 'manual';
  let applied: Applied;
  {
    using ask = options.yes === true ? undefined : askAtTerminal(context);
    const addition = { name, entry, secrets: plainSecrets(name, entry) };
    const more = {
      trust,
      replace: options.replace === true,
      ...(options.references !== undefined && { references: options.references }),
    } as const;
    applied = await addServers(change, [addition], more, { context, ask });
  }
  const { place, ...kept } = keptIn(change.file, applied);
  // At a terminal it is tried instead.
  const foreseen = isPerson ? undefined : await foreseenProblem(name, entry, { change, context });
  const problem = foreseen && { code: foreseen.code, message: foreseen.message };
  if (out.style.format === 'json')
    out.json({ added: name, config: change.file, ...kept, trust, ...(problem && { problem }) });
  else if (applied.state === 'unchanged') out.line(`${name} is in ${place} already`);
  else out.line(`Added ${name} to ${place}`);
  for (const note of notes) out.note(note);
  tellApplied(applied, change, context);
  if (isPerson) return tryServer(name, options, context);
  if (foreseen !== undefined) tellForeseen(name, foreseen, context);
  return 0;
}

interface Chosen {
  readonly name: string;
  readonly entry: JsonObject;
  readonly notes: readonly string[];
  /** Typed here, so that paths in it are meant from here. */
  readonly words?: readonly string[];
}

/** The entry with the folder that its words need, and what is to be said about it. */
function anchored(
  entry: JsonObject,
  { notes, words }: Chosen,
  { change, context }: { readonly change: ConfigChange; readonly context: CliContext },
): Pick<Chosen, 'entry' | 'notes'> {
  const { cwd, platform } = context;
  const folder = words && startFolder(words, { cwd, platform, file: change.file });
  if (folder === undefined) return { entry, notes };
  const note = `It will be started in ${cwd}, where ${shellWord(folder.word)} is: "cwd" of its entry says so.`;
  return { entry: { ...entry, cwd: folder.cwd }, notes: [...notes, note] };
}

async function chosenServer(
  options: AddOptions,
  context: CliContext,
  said: string | undefined,
): Promise<Chosen> {
  const { url, sse, cli, fromRegistry, rest } = options;
  const ways = [url, sse, cli, fromRegistry, rest].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw new GatewayError(
      'USAGE',
      'Say in one way how the server is reached: -- COMMAND ARGS…, --url URL, --sse URL, --cli COMMAND or --from-registry NAME.',
    );
  if (fromRegistry !== undefined) {
    const { fromRegistryEntry } = await import('./set-up/from-registry.ts');
    const found = await fromRegistryEntry(fromRegistry, options, context);
    return { ...found, name: said ?? found.name };
  }
  if (said === undefined)
    throw new GatewayError('USAGE', 'Say under which name: trunkline add NAME -- COMMAND ARGS…');
  return { name: said, ...givenServer(options), notes: [] };
}

function givenServer({ url, sse, cli, rest }: AddOptions): Pick<Chosen, 'entry' | 'words'> {
  if (url !== undefined) return { entry: { url } };
  if (sse !== undefined) return { entry: { type: 'sse', url: sse } };
  const words = cli === undefined ? rest : splitWords(cli);
  const [command, ...args] = words ?? [];
  if (command === undefined || command === '')
    throw new GatewayError(
      'USAGE',
      'A command must follow --, such as: trunkline add files -- npx -y some-server',
    );
  const entry = { command, ...(args.length > 0 && { args }), ...(cli !== undefined && { cli: true }) };
  return { entry, words: [command, ...args] };
}

function withFlags(entry: JsonObject, options: AddOptions): JsonObject {
  const env = variables(options.env);
  const headers =
    options.header &&
    Object.fromEntries(options.header.map(readHeader).map(({ name, value }) => [name, value]));
  const isProgram = entry['command'] !== undefined;
  if (isProgram && headers !== undefined)
    throw new GatewayError('USAGE', '--header is for servers at an address; programs take --env.');
  if (!isProgram && env !== undefined)
    throw new GatewayError('USAGE', '--env is for programs; servers at an address take --header.');
  return {
    ...entry,
    ...(env !== undefined && { env: { ...(entry['env'] as JsonObject | undefined), ...env } }),
    ...(headers !== undefined && {
      headers: { ...(entry['headers'] as JsonObject | undefined), ...headers },
    }),
    ...(options.tag !== undefined && { tags: options.tag }),
  };
}

function variables(flags: readonly string[] | undefined): JsonObject | undefined {
  if (flags === undefined) return undefined;
  return Object.fromEntries(
    flags.map((each) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(each) ?? [];
      // What was given may be a secret, so it is not repeated.
      if (name === undefined || value === undefined)
        throw new GatewayError('USAGE', '--env needs a name and a value, such as --env NAME=VALUE.');
      return [name, value];
    }),
  );
}
