import { Payload } from '../../../core/lib/payload.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { LogTail } from '../../../observability/server-log/read-log-tail.ts';
import { parseClientJson } from '../../import/client-json.ts';
import type { ChangeAuthor } from '../change-author.ts';
import type {
  AddServersResult,
  ApplyResult,
  ChangeServerResult,
  ServerEntryView,
} from '../change-results.ts';
import type { ServerEditor } from '../server-editor.ts';
import type { ServerInput } from '../server-input.ts';
import { MANAGE_OPERATIONS } from './tool-definitions.ts';

/** The state of a server in the running gateway. */
interface ServerRuntimeState {
  readonly name: string;
  readonly state: string;
  readonly tools: number;
  readonly problem?:
    | {
        readonly code: string;
        readonly message: string;
        readonly retryAt?: number;
        readonly attempts?: number;
      }
    | undefined;
}

interface ManageServersDeps {
  readonly editor: ServerEditor;
  readonly states: () => readonly ServerRuntimeState[];
  readonly restart: (name: string) => Promise<void>;
  readonly refresh: (name: string) => Promise<void>;
  readonly log: (name: string, lines: number) => LogTail;
  /** Whether the caller may know of this server. */
  readonly canSee: (name: string) => boolean;
}

/** Removes the path of the configuration from a message, because a model does not need it. */
type HidePath = (text: string) => string;

interface Answer {
  readonly text: string;
  readonly structured: JsonObject;
}

const DEFAULT_LINES = 50;
const MAX_LINES = 500;
/** Enough to diagnose a problem without filling the context of a model. */
const MAX_LOG_CHARS = 32_000;

/** Handles a call of `manage_servers`. An error is returned to the model as a result. */
export async function handleManageServers(
  args: JsonObject,
  author: ChangeAuthor,
  deps: ManageServersDeps,
): Promise<Payload> {
  const { file } = await deps.editor.state();
  const hidePath: HidePath = (text) =>
    text.replaceAll(file, (_, at: number) => (at === 0 ? 'The configuration' : 'the configuration'));
  try {
    const { text, structured } = await runOperation(args, author, { ...deps, hidePath });
    return Payload.of({ content: [{ type: 'text', text }], structuredContent: structured });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code === 'INVARIANT') throw error;
    const { code } = error;
    const message = hidePath(error.message);
    return Payload.of({
      content: [{ type: 'text', text: message }],
      isError: true,
      structuredContent: { error: { code, message } },
      _meta: { 'trunkline/code': code },
    });
  }
}

async function runOperation(
  args: JsonObject,
  author: ChangeAuthor,
  deps: ManageServersDeps & { readonly hidePath: HidePath },
): Promise<Answer> {
  const { editor, hidePath } = deps;
  const operation = MANAGE_OPERATIONS.find((candidate) => candidate === args['operation']);
  if (operation === undefined) {
    throw argumentError(`"operation" must be one of ${MANAGE_OPERATIONS.join(', ')}.`);
  }
  if (operation === 'list') return listServers(deps);
  if (operation === 'add') return describeAdded(await editor.add(readInput(args), { author }), hidePath);
  const name = readName(args);
  switch (operation) {
    case 'update':
      return describeChanged('changed', await editor.update(name, readChanges(args), { author }), hidePath);
    case 'remove':
      return describeChanged('removed', await editor.remove(name, { author }), hidePath);
    case 'enable':
      return describeChanged('enabled', await editor.enable(name, { author }), hidePath);
    case 'disable':
      return describeChanged('disabled', await editor.disable(name, { author }), hidePath);
    case 'restart':
    case 'refresh':
      // Throws if there is no such server, or if it is hidden from the caller.
      await editor.entry(name, author);
      await deps[operation](name);
      return describeState(name, deps);
    case 'tail_log':
      return readLog(name, args, author, deps);
  }
}

async function listServers({ editor, states, canSee }: ManageServersDeps): Promise<Answer> {
  const stateByName = new Map(states().map((state) => [state.name, state]));
  const servers = (await editor.entries())
    .filter(({ name }) => canSee(name))
    .map(({ name, enabled, trust, entry }) => ({
      name,
      enabled,
      trust,
      entry,
      ...readState({ enabled }, stateByName.get(name)),
    }));
  const lines = servers.map(({ name, state, tools, problem }) =>
    formatState(name, { state, tools, problem }),
  );
  return { text: lines.join('\n') || 'There are no servers.', structured: { servers } };
}

function readState({ enabled }: Pick<ServerEntryView, 'enabled'>, state: ServerRuntimeState | undefined) {
  if (!enabled) return { state: 'disabled', tools: 0, problem: undefined };
  if (state === undefined) return { state: 'unused', tools: 0, problem: undefined };
  return { state: state.state, tools: state.tools, problem: state.problem };
}

function describeState(name: string, { states }: ManageServersDeps): Answer {
  const state = states().find((candidate) => candidate.name === name);
  if (state === undefined) {
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name.slice(0, 200)}".`, {
      details: { kind: 'server' },
    });
  }
  return { text: formatState(name, state), structured: { server: { ...state } } };
}

function formatState(
  name: string,
  {
    state,
    tools,
    problem,
  }: Pick<ServerRuntimeState, 'state' | 'tools'> & {
    readonly problem?: ServerRuntimeState['problem'] | undefined;
  },
): string {
  const reason = problem === undefined ? '' : ` – ${problem.message}`;
  return `${name}: ${state}, ${tools} tools${reason}`;
}

function describeAdded({ results, applied }: AddServersResult, hidePath: HidePath): Answer {
  const lines = results.map(({ name, result, reason, trust, remarks }) => {
    const held = trust === 'manual' ? '; it is held for approval by a person (trunkline approvals)' : '';
    const notes = remarks.map((remark) => `\n  ${remark}`).join('');
    return `${name}: ${result}${reason === undefined ? '' : `, ${reason}`}${held}${notes}`;
  });
  return { text: lines.join('\n'), structured: { results, applied: hideReasonPath(applied, hidePath) } };
}

function describeChanged(verb: string, result: ChangeServerResult, hidePath: HidePath): Answer {
  const { name, changed, isHeld } = result;
  const applied = hideReasonPath(result.applied, hidePath);
  const structured = { name, changed, isHeld, applied };
  if (applied.state === 'unchanged') return { text: `${name} has this state already.`, structured };
  const reason = verb === 'enabled' ? 'It was never approved in this form' : 'It is run differently now';
  const held = isHeld ? ` ${reason}, so it is held for approval by a person (trunkline approvals).` : '';
  const later = applied.state === 'later' ? ` It is not in use yet: ${applied.reason}` : '';
  const keys = changed.length === 0 || verb !== 'changed' ? '' : ` (${changed.join(', ')})`;
  return { text: `${name} was ${verb}${keys}.${held}${later}`, structured };
}

function hideReasonPath(applied: ApplyResult, hidePath: HidePath): ApplyResult {
  return applied.state === 'later' ? { ...applied, reason: hidePath(applied.reason) } : applied;
}

async function readLog(
  name: string,
  args: JsonObject,
  author: ChangeAuthor,
  { log, editor }: ManageServersDeps,
): Promise<Answer> {
  const { entry } = await editor.entry(name, author);
  // The log contains the lines of all sessions, including those of other callers.
  if (entry['share'] === 'session') {
    throw new GatewayError(
      'ARGUMENTS_REFUSED',
      `Each session has its own process of "${name}", so only a person can read their common log: trunkline logs --process ${quoteShellWord(name)}`,
      { details: { server: name } },
    );
  }
  const { lines, hasMore } = log(name, readLineCount(args));
  const texts = lines.map(({ at, from, text }) => `${new Date(at).toISOString()} ${from} ${text}`);
  const newest: string[] = [];
  let remaining = MAX_LOG_CHARS;
  for (const text of texts.toReversed()) {
    if ((remaining -= text.length) < 0) break;
    newest.unshift(text);
  }
  const isTruncated = hasMore || newest.length < texts.length;
  return {
    text: newest.join('\n') || `The log of ${name} is empty.`,
    structured: { name, lines: newest, hasMore: isTruncated },
  };
}

/** Accepts one entry, several entries or a text. Also accepts the members of one entry beside its name. */
function readInput(args: JsonObject): ServerInput {
  const { text } = args;
  const [server, servers] = [readObject(args, 'server'), readObject(args, 'servers')];
  const name = typeof args['name'] === 'string' && args['name'] !== '' ? args['name'] : undefined;
  if (typeof text === 'string' && text !== '') return { text, name };
  if (servers !== undefined) return { servers, name };
  if (server !== undefined) return { servers: name === undefined ? server : { [name]: server } };
  const { operation: _, name: __, ...entry } = args;
  const isEntry = typeof entry['command'] === 'string' || typeof entry['url'] === 'string';
  if (name !== undefined && isEntry) return { servers: { [name]: entry } };
  throw argumentError('Give "name" and "server", or "servers", or "text".');
}

function readChanges(args: JsonObject): JsonObject {
  const changes = readObject(args, 'changes');
  if (changes === undefined) throw argumentError('Give "changes": an object that is merged into the entry.');
  return changes;
}

/** Also accepts an object as a JSON string, because models often encode objects twice. */
function readObject(args: JsonObject, key: string): JsonObject | undefined {
  const value = args[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (isJsonObject(value)) return value;
  try {
    if (typeof value === 'string') return parseClientJson(value);
  } catch {
    // The error below applies to invalid JSON, too.
  }
  throw argumentError(`"${key}" must be an object.`);
}

function readName({ name }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name;
  throw argumentError('Give "name": the name of the server.');
}

function readLineCount({ lines }: JsonObject): number {
  return typeof lines === 'number' && lines >= 1 ? Math.min(Math.floor(lines), MAX_LINES) : DEFAULT_LINES;
}

function argumentError(message: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', message);
}
