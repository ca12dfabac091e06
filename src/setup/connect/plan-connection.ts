import { canonicalJson } from '../../core/lib/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ImportStep } from '../import/plan-import.ts';
import type { ClientFileFormat } from './client-file-formats.ts';
import type { ConnectableClient } from './connectable-clients.ts';

/** The name of Trunkline's entry in the client's file. */
const OWN_NAME = 'trunkline';

export interface ConnectionPlan {
  /** The client's text after the change; equal to the current one if there is nothing to change. */
  readonly text: string;
  /** Names of the client's servers that move behind Trunkline. */
  readonly moved: readonly string[];
  /** The name of an entry for Trunkline that the user wrote; it is kept as it is. */
  readonly existingEntry?: string | undefined;
  /** Servers that stay in the client's file. */
  readonly unmoved: readonly { readonly name: string; readonly reason: string }[];
}

/** Plans the new text of a client's file. Throws if the text cannot be edited without losing something else in it. */
export function planConnection(
  { format }: ConnectableClient,
  text: string,
  { steps, entry }: { readonly steps: readonly ImportStep[]; readonly entry: JsonObject },
): ConnectionPlan {
  const servers = format.readServers(text);
  const ownSteps = steps.filter(({ state, name }) => state === 'own' && servers.has(name));
  const [existing, ...redundant] = ownSteps;
  const moved = steps.filter(({ state, name }) => (state === 'new' || state === 'same') && servers.has(name));
  let after = text;
  const expected = new Map(servers);
  for (const { name } of [...moved, ...redundant]) {
    after = format.removeServer(after, name);
    expected.delete(name);
  }
  if (existing === undefined) {
    after = format.setServer(after, OWN_NAME, entry);
    expected.set(OWN_NAME, entry);
  }
  assertOnlyServersChanged(format, { before: text, after, expected });
  return {
    text: after,
    moved: moved.map(({ name }) => name),
    existingEntry: existing?.name,
    unmoved: steps.flatMap(({ state, name, reason }) =>
      state === 'conflicting' || state === 'unusable' ? [{ name, reason: reason ?? '' }] : [],
    ),
  };
}

/** Plans the text of a client's file with its original servers, if the file has changed since it was connected. */
export function planMergedUndo(
  { format }: ConnectableClient,
  { before, now }: { readonly before: string; readonly now: string },
): string {
  const original = format.readServers(before);
  const current = format.readServers(now);
  let after = now;
  const expected = new Map(current);
  for (const [name, value] of original) {
    if (current.has(name)) continue;
    after = format.setServer(after, name, value);
    expected.set(name, value);
  }
  if (!original.has(OWN_NAME) && current.has(OWN_NAME)) {
    after = format.removeServer(after, OWN_NAME);
    expected.delete(OWN_NAME);
  }
  assertOnlyServersChanged(format, { before: now, after, expected });
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

/** Adds the name to each server, because in list formats each server also contains its name. */
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
