import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { isJsonObject } from '../../core/json.ts';
import { isSingleServerEntry } from '../import/gateway-entry.ts';
import type { ImportStep } from '../import/plan-import.ts';
import { addMissingMembers, OWN_NAME } from './client-entries.ts';
import type { ClientEntries } from './client-entries.ts';
import type { ClientFileFormat } from './client-file-formats.ts';
import type { ConnectableClient } from './connectable-clients.ts';
import type { EntryFault } from './inspect-own-entry.ts';

export interface ConnectionPlan {
  /** The text of the client's file after the change; equal to the current text if nothing changes. */
  readonly text: string;
  /** Names of the client's servers that move to Trunkline. */
  readonly moved: readonly string[];
  /** Names of the entries that are written. */
  readonly written: readonly string[];
  /** The name of the client's existing entry for Trunkline, if there is one. The entry is kept. */
  readonly existingEntry?: string | undefined;
  /** Entries for Trunkline that cannot be used and are removed. */
  readonly replaced: readonly { readonly name: string; readonly fault: EntryFault }[];
  /** Names of the members that are added to the existing entry, or that get more items. */
  readonly completedMembers: readonly string[];
  /** Servers that stay in the client's file. */
  readonly unmoved: readonly { readonly name: string; readonly reason: string }[];
}

/** Plans the new text of a client's file. Throws if the servers cannot be changed without changing something else in the text. */
export function planConnection(
  { format }: ConnectableClient,
  text: string,
  {
    steps,
    wanted,
    faults = new Map(),
  }: {
    readonly steps: readonly ImportStep[];
    readonly wanted: ClientEntries;
    /** The entries for Trunkline that start another program or configuration. */
    readonly faults?: ReadonlyMap<string, EntryFault>;
  },
): ConnectionPlan {
  const servers = format.readServers(text);
  const ownSteps = steps.filter(({ state, name }) => state === 'own' && servers.has(name));
  // An entry for all servers is kept, whatever its name is. Entries for single servers are replaced.
  const existing = wanted.entries.has(OWN_NAME)
    ? ownSteps.find(
        ({ name, entry }) => entry !== undefined && !isSingleServerEntry(entry) && !faults.has(name),
      )
    : undefined;
  // An entry for another configuration has its own purpose, so it stays unless its name is needed.
  const replaced = ownSteps.flatMap(({ name }) => {
    const fault = faults.get(name);
    if (fault === undefined || (fault.kind === 'other-config' && !wanted.entries.has(name))) return [];
    return [{ name, fault }];
  });
  const kept = new Set([existing?.name, ...faults.keys()]);
  for (const { name } of replaced) kept.delete(name);
  const moved = steps.filter(({ state, name }) => (state === 'new' || state === 'same') && servers.has(name));
  const expected = new Map(servers);
  for (const { name } of [...moved, ...ownSteps]) if (!kept.has(name)) expected.delete(name);
  for (const [name, entry] of existing === undefined ? wanted.entries : []) expected.set(name, entry);
  const current = existing?.name === OWN_NAME ? servers.get(OWN_NAME) : undefined;
  const completedEntry = isJsonObject(current) ? addMissingMembers(current, wanted.additions) : undefined;
  if (completedEntry !== undefined) expected.set(OWN_NAME, completedEntry);
  const after = replaceServers(format, text, expected);
  return {
    text: after,
    moved: moved.map(({ name }) => name),
    written: existing === undefined ? [...wanted.entries.keys()] : [],
    existingEntry: existing?.name,
    replaced,
    completedMembers: Object.keys(completedEntry ?? {}).filter(
      (key) => isJsonObject(current) && !isEqual(current[key], completedEntry?.[key]),
    ),
    unmoved: steps.flatMap(({ state, name, reason }) =>
      state === 'conflicting' || state === 'unusable' ? [{ name, reason: reason ?? '' }] : [],
    ),
  };
}

/**
 * Plans how to disconnect a client whose file has changed since `connect` edited it: removes the entries that `connect` wrote, whose names
 * are `written`, and restores the servers that are missing. All other changes stay.
 */
export function planMergedUndo(
  { format }: ConnectableClient,
  {
    before,
    now,
    written = [OWN_NAME],
  }: { readonly before: string; readonly now: string; readonly written?: readonly string[] | undefined },
): string {
  const original = format.readServers(before);
  const expected = new Map(format.readServers(now));
  for (const name of written) expected.delete(name);
  for (const [name, value] of original) if (!expected.has(name)) expected.set(name, value);
  return replaceServers(format, now, expected);
}

/** Changes the servers in a text to the expected ones. Every other byte stays unchanged. */
function replaceServers(
  format: ClientFileFormat,
  text: string,
  expected: ReadonlyMap<string, unknown>,
): string {
  const servers = format.readServers(text);
  const changed = [...servers].filter(([name, value]) => !isEqual(value, expected.get(name)));
  let after = text;
  for (const [name] of changed) {
    // If the format can replace a server, the server keeps its position in the file.
    const isReplaced = expected.has(name) && format.canReplace;
    if (!isReplaced) after = format.removeServer(after, name);
  }
  for (const [name, value] of expected) {
    if (isEqual(servers.get(name), value)) continue;
    after = format.setServer(after, name, value);
  }
  assertOnlyServersChanged(format, { before: text, after, expected });
  return after;
}

/** Parses the new text again, and throws if anything but the expected servers has changed. */
function assertOnlyServersChanged(
  format: ClientFileFormat,
  texts: {
    readonly before: string;
    readonly after: string;
    readonly expected: ReadonlyMap<string, unknown>;
  },
): void {
  const { before, after, expected } = texts;
  let isCorrect: boolean;
  try {
    isCorrect =
      isEqual(format.readOthers(before), format.readOthers(after)) &&
      isEqual(withNames(format.readServers(after)), withNames(expected));
  } catch {
    isCorrect = false; // The result cannot even be parsed.
  }
  if (!isCorrect) throw new Error('its formatting cannot be edited safely');
}

/** Adds the name to each server for the comparison, because in formats that hold a list, each server contains its name. */
function withNames(servers: ReadonlyMap<string, unknown>): object {
  return Object.fromEntries(
    [...servers].map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? { ...value, name } : value,
    ]),
  );
}

function isEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(toPlainJson(a)) === canonicalJson(toPlainJson(b));
}

/** Converts values that JSON does not have, such as the dates and large integers of TOML, so that they can be compared. */
function toPlainJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  );
  return text === undefined ? null : JSON.parse(text);
}
