import { foreignJson } from '../../import/foreign-text.ts';
import { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { LogTail } from '../../observe/server-log/read-tail.ts';
import type { AddedServers, Applied, ChangedServer, ServerEntryShown } from '../change-results.ts';
import type { ChangedBy } from '../changed-by.ts';
import type { ServerChanges } from '../server-changes.ts';
import { OPERATIONS } from './tool-definitions.ts';

/** What is known of a server while the gateway runs. */
export interface ServerState {
  readonly name: string;
  readonly state: string;
  readonly tools: number;
  readonly problem?: {
    readonly code: string;
    readonly message: string;
    readonly retryAt?: number;
    readonly attempts?: number;
  };
}

interface ManageServersDeps {
  readonly changes: ServerChanges;
  readonly states: () => readonly ServerState[];
  readonly restart: (name: string) => Promise<void>;
  readonly refresh: (name: string) => Promise<void>;
  readonly log: (name: string, lines: number) => LogTail;
  /** Whether the caller may know of this server. */
  readonly sees: (name: string) => boolean;
}

interface AnswerDeps extends ManageServersDeps {
  /** A sentence without the path of the configuration. */
  readonly said: (text: string) => string;
}

interface Answer {
  readonly text: string;
  readonly structured: JsonObject;
}

const LINES = 50;
const MAX_LINES = 500;
/** Enough to see what is wrong, and not all of what a model can read. */
const MAX_LOG_CHARS = 32_000;

/** Answers `manage_servers`; what cannot be done is told to the model in a result. */
export async function manageServers(
  args: JsonObject,
  by: ChangedBy,
  deps: ManageServersDeps,
): Promise<Payload> {
  const { file } = await deps.changes.state();
  // Where the file lies is nothing that a model needs.
  const said = (text: string): string =>
    text.replaceAll(file, (_, at: number) => (at === 0 ? 'The configuration' : 'the configuration'));
  try {
    const { text, structured } = await answer(args, by, { ...deps, said });
    return Payload.of({ content: [{ type: 'text', text }], structuredContent: structured });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code === 'INVARIANT') throw error;
    const { code } = error;
    const message = said(error.message);
    return Payload.of({
      ...{ content: [{ type: 'text', text: message }], isError: true },
      ...{ structuredContent: { error: { code, message } }, _meta: { 'trunkline/code': code } },
    });
  }
}

async function answer(args: JsonObject, by: ChangedBy, deps: AnswerDeps): Promise<Answer> {
  const { changes, said } = deps;
  const operation = OPERATIONS.find((each) => each === args['operation']);
  if (operation === undefined) throw wrong(`"operation" must be one of ${OPERATIONS.join(', ')}.`);
  if (operation === 'list') return listed(deps);
  if (operation === 'add') return added(await changes.add(givenIn(args), { by }), said);
  const name = nameIn(args);
  switch (operation) {
    case 'update':
      return changed('changed', await changes.update(name, changesIn(args), { by }), said);
    case 'remove':
      return changed('removed', await changes.remove(name, { by }), said);
    case 'enable':
      return changed('enabled', await changes.enable(name, { by }), said);
    case 'disable':
      return changed('disabled', await changes.disable(name, { by }), said);
    case 'restart':
    case 'refresh':
      // Says that there is none, also of one that the caller may not know of.
      await changes.entry(name, by);
      await deps[operation](name);
      return stateOf(name, deps);
    case 'tail_log':
      return logged(name, args, by, deps);
  }
}

async function listed({ changes, states, sees }: ManageServersDeps): Promise<Answer> {
  const known = new Map(states().map((state) => [state.name, state]));
  const servers = (await changes.entries())
    .filter(({ name }) => sees(name))
    .map((entry) => ({ ...shownEntry(entry), ...shownState(entry, known.get(entry.name)) }));
  const lines = servers.map(({ name, state, tools, problem }) => {
    const why = problem === undefined ? '' : ` – ${problem.message}`;
    return `${name}: ${state}, ${tools} tools${why}`;
  });
  return { text: lines.join('\n') || 'There are no servers.', structured: { servers } };
}

function shownEntry({ name, entry, enabled, trust }: ServerEntryShown) {
  return { name, enabled, trust, entry };
}

function shownState({ enabled }: ServerEntryShown, state: ServerState | undefined) {
  if (!enabled) return { state: 'disabled', tools: 0, problem: undefined };
  if (state === undefined) return { state: 'unused', tools: 0, problem: undefined };
  const { state: is, tools, problem } = state;
  return { state: is, tools, problem };
}

function stateOf(name: string, { states }: ManageServersDeps): Answer {
  const state = states().find((each) => each.name === name);
  if (state === undefined) throw unknown(name);
  const { problem, tools } = state;
  const why = problem === undefined ? '' : ` – ${problem.message}`;
  return { text: `${name}: ${state.state}, ${tools} tools${why}`, structured: { server: { ...state } } };
}

function added({ results, applied: done }: AddedServers, said: AnswerDeps['said']): Answer {
  const applied = appliedTo(done, said);
  const lines = results.map(({ name, result, reason, trust, remarks }) => {
    const held = trust === 'manual' ? '; it waits for a person to approve it (trunkline approvals)' : '';
    const more = remarks.map((remark) => `\n  ${remark}`).join('');
    return `${name}: ${result}${reason === undefined ? '' : `, ${reason}`}${held}${more}`;
  });
  return { text: lines.join('\n'), structured: { results, applied } };
}

function changed(how: string, change: ChangedServer, said: AnswerDeps['said']): Answer {
  const { name, changed: keys, isHeld } = change;
  const applied = appliedTo(change.applied, said);
  const isNothing = applied.state === 'unchanged';
  const held = isHeld
    ? how === 'enabled'
      ? ' Nobody has approved it yet, so that it waits for a person (trunkline approvals).'
      : ' It is run differently now and waits for a person to approve it (trunkline approvals).'
    : '';
  const later = applied.state === 'later' ? ` It is not in use yet: ${applied.reason}` : '';
  const which = keys.length === 0 || how !== 'changed' ? '' : ` (${keys.join(', ')})`;
  const text = isNothing ? `${name} is like that already.` : `${name} was ${how}${which}.${held}${later}`;
  return { text, structured: { name, changed: keys, isHeld, applied } };
}

function appliedTo(applied: Applied, said: AnswerDeps['said']): Applied {
  return applied.state === 'later' ? { ...applied, reason: said(applied.reason) } : applied;
}

async function logged(
  name: string,
  args: JsonObject,
  by: ChangedBy,
  { log, changes }: ManageServersDeps,
): Promise<Answer> {
  const { entry } = await changes.entry(name, by);
  // Its processes belong to one session each, and their lines are in one log.
  if (entry['share'] === 'session')
    throw new GatewayError(
      'ARGUMENTS_REFUSED',
      `Each session has its own process of "${name}", and their log is for a person to read: trunkline logs --process ${name}`,
      { details: { server: name } },
    );
  const { lines, hasMore } = log(name, linesIn(args));
  const texts = lines.map(({ at, from, text }) => `${new Date(at).toISOString()} ${from} ${text}`);
  const kept: string[] = [];
  let left = MAX_LOG_CHARS;
  for (const text of texts.toReversed()) {
    if ((left -= text.length) < 0) break;
    kept.unshift(text);
  }
  const isCut = hasMore || kept.length < texts.length;
  return {
    text: kept.join('\n') || `Nothing was logged of ${name}.`,
    structured: { name, lines: kept, hasMore: isCut },
  };
}

/** One entry, several, or a text; an entry whose members are beside its name is one, too. */
function givenIn(args: JsonObject): { text?: string; servers?: JsonObject; name?: string } {
  const { name, text } = args;
  const [server, servers] = [objectIn(args, 'server'), objectIn(args, 'servers')];
  const named = typeof name === 'string' && name !== '' ? { name } : {};
  if (typeof text === 'string' && text !== '') return { text, ...named };
  if (servers !== undefined) return { servers, ...named };
  if (server !== undefined)
    return 'name' in named ? { servers: { [named.name]: server } } : { servers: server };
  const { operation: _, name: __, ...rest } = args;
  if ('name' in named && (typeof rest['command'] === 'string' || typeof rest['url'] === 'string'))
    return { servers: { [named.name]: rest } };
  throw wrong('Give "name" and "server", or "servers", or "text".');
}

function changesIn(args: JsonObject): JsonObject {
  const changes = objectIn(args, 'changes');
  if (changes === undefined) throw wrong('Give "changes": an object that is merged into the entry.');
  return changes;
}

/** Models encode objects once too often. */
function objectIn(args: JsonObject, key: string): JsonObject | undefined {
  const value = args[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (isJsonObject(value)) return value;
  try {
    if (typeof value === 'string') return foreignJson(value);
  } catch {
    // Said below.
  }
  throw wrong(`"${key}" must be an object.`);
}

function nameIn({ name }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name;
  throw wrong('Give "name": the server that is meant.');
}

function linesIn({ lines }: JsonObject): number {
  return typeof lines === 'number' && lines >= 1 ? Math.min(Math.floor(lines), MAX_LINES) : LINES;
}

function unknown(name: string): GatewayError {
  return new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name.slice(0, 200)}".`, {
    details: { kind: 'server' },
  });
}

function wrong(message: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', message);
}
