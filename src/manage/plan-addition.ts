import type { ConfigDocument, ConfigEdit } from '../config/file/edit.ts';
import { entryProblem } from '../config/entry-problem.ts';
import { ownEntry } from '../import/own-entry.ts';
import type { OwnProgram } from '../import/own-entry.ts';
import { isSameEntry } from '../import/same-entry.ts';
import { plainSecrets } from '../import/secrets.ts';
import type { Places, ReadServer } from '../import/source.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { AddedServer } from './change-results.ts';
import type { ChangedBy } from './changed-by.ts';
import { trustIn } from './entry-in.ts';
import { addableByModel, nameProblemForModel } from './for-models.ts';
import { givenServers } from './given-servers.ts';
import type { Given } from './given-servers.ts';
import { maskedEntry, refuseMasked } from './masked-entry.ts';

interface PlanOptions {
  readonly document: ConfigDocument;
  readonly by: ChangedBy;
  readonly places: Places;
  readonly own: OwnProgram;
  readonly replace: boolean;
  /** Another one each time. */
  readonly ending: () => string;
}

/** More than anybody has; whoever adds without end is stopped here. */
const MAX_SERVERS = 1000;
const MAX_CHARACTERS = 64 * 1024;

/** What becomes of one server that was given, with the edit that does it. */
export type PlannedServer = AddedServer & { readonly edit?: ConfigEdit };

/** Decides about every server that was given by itself: one that cannot be added does not stop the others. */
export function planAddition(given: Given, options: PlanOptions): readonly PlannedServer[] {
  const { document, places } = options;
  const taken = new Set<string>();
  return givenServers(given, { configFile: document.file, places }).map((server) => {
    if (taken.has(server.name)) return refused(server.name, 'it was given twice');
    if (document.servers.size + taken.size >= MAX_SERVERS)
      return refused(server.name, `there are ${MAX_SERVERS} servers already`);
    const step = planOne(server, options);
    if (step.result === 'added') taken.add(server.name);
    return step;
  });
}

function planOne({ name, entry: read, problem, remarks }: ReadServer, options: PlanOptions): PlannedServer {
  const { document, by, replace } = options;
  if (read === undefined || problem !== undefined) return refused(name, problem ?? 'it cannot be read');
  const own = ownEntry(read, options.own);
  if (own === 'own') return refused(name, 'it is Trunkline itself');
  if (JSON.stringify(read).length > MAX_CHARACTERS) return refused(name, 'it is too long to be an entry');
  // What wraps a single server stands for it.
  const { entry, remarks: left } = allowed(own?.wrapped ?? read, by);
  const wrong = problemWith(name, entry, options);
  if (wrong !== undefined) return refused(name, wrong);
  const existing = by.sees?.(name) === false ? undefined : document.servers.get(name);
  if (existing !== undefined && !replace)
    return isSameEntry(existing, entry) ? same(name) : refused(name, 'another server has this name');
  // Nothing is said of a server that they may not know of, not even whether it is there: what they could not see has no name for them.
  const isHidden = existing === undefined && document.servers.has(name) && by.mayMeetHidden !== true;
  if (isHidden || (existing === undefined && (by.seesNew ?? by.sees)?.(name) === false))
    return refused(name, 'this name cannot be used; take another');
  const before = existing === undefined && by.mayMeetHidden === true ? endedLike(name, entry, options) : [];
  if (before[0] !== undefined) return same(before[0]);
  const given = existing === undefined && by.mayMeetHidden === true ? ended(name, options) : name;
  const written = by.is === 'person' ? entry : { ...entry, trust: 'manual' };
  const plain = plainSecrets(name, entry).map(({ path }) => `${path.join('.')} holds a secret in plain text`);
  const called = given === name ? [] : [`it is called "${given}": a name that you give gets an ending`];
  const all = [...remarks, ...left, ...called, ...plain, ...twins(given, entry, options)];
  return {
    ...{ name: given, result: 'added', trust: trustIn(written), entry: maskedEntry(written), remarks: all },
    edit: { path: ['mcpServers', given], value: written },
  };
}

/** Whoever gets an ending cannot find out by adding which names are taken. */
function ended(name: string, { document, ending }: PlanOptions): string {
  for (;;) {
    const given = `${name.slice(0, 50)}-${ending()}`;
    if (!document.servers.has(given)) return given;
  }
}

/** Servers that they see, and that were given this name and an ending, and are the same. */
function endedLike(name: string, entry: JsonObject, { document, by }: PlanOptions): readonly string[] {
  const start = `${name.slice(0, 50)}-`;
  return [...document.servers].flatMap(([other, ours]) =>
    other.startsWith(start) && by.sees?.(other) !== false && isSameEntry(ours, entry) ? [other] : [],
  );
}

function same(name: string): PlannedServer {
  return { name, result: 'same', reason: 'it is there already', remarks: [] };
}

function allowed(entry: JsonObject, by: ChangedBy): ReturnType<typeof addableByModel> {
  return by.is === 'model' ? addableByModel(entry) : { entry, remarks: [] };
}

function problemWith(name: string, entry: JsonObject, { by, document }: PlanOptions): string | undefined {
  try {
    refuseMasked(entry);
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
  const wrongName = by.is === 'model' ? nameProblemForModel(name) : undefined;
  return wrongName ?? entryProblem(name, entry, document.file);
}

function twins(name: string, entry: JsonObject, { by, document }: PlanOptions): readonly string[] {
  const known = [...document.servers].filter(([other]) => other !== name && (by.sees?.(other) ?? true));
  const twin = known.find(([, ours]) => isSameEntry(ours, entry));
  return twin === undefined ? [] : [`it reaches the same as "${twin[0]}"`];
}

function refused(name: string, reason: string): PlannedServer {
  return { name, result: 'refused', reason, remarks: [] };
}
