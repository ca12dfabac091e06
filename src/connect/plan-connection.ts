import { canonicalJson } from '../lib/canonical-json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Step } from '../import/plan.ts';
import type { Client } from './clients.ts';

/** Under which a client has us. */
const OWN_NAME = 'trunkline';

export interface Connection {
  /** The client's text afterwards; the same as before when there is nothing to do. */
  readonly text: string;
  /** Names of the client's servers that are behind Trunkline from then on. */
  readonly moved: readonly string[];
  /** The name of an entry of ours that a person wrote, which is then the only one. */
  readonly kept?: string;
  /** Why others stay where they are. */
  readonly staying: readonly { readonly name: string; readonly reason: string }[];
}

/** What a client's text becomes; throws in words when it cannot be edited with everything else of it kept. */
export function planConnection(
  client: Client,
  text: string,
  { steps, entry }: { readonly steps: readonly Step[]; readonly entry: JsonObject },
): Connection {
  const { format } = client;
  const present = format.servers(text);
  const own = steps.filter(({ state, name }) => state === 'own' && present.has(name));
  // One that a person wrote is left as it is.
  const [kept] = own;
  const moved = steps.filter(({ state, name }) => (state === 'new' || state === 'same') && present.has(name));
  const gone = [...moved, ...own.slice(1)].map(({ name }) => name);
  let after = text;
  const expected = new Map(present);
  for (const name of gone) {
    after = format.withoutServer(after, name);
    expected.delete(name);
  }
  if (kept === undefined) {
    after = format.withServer(after, OWN_NAME, entry);
    expected.set(OWN_NAME, entry);
  }
  check(client, { before: text, after, expected });
  const staying = steps.flatMap(({ state, name, reason }) =>
    state === 'conflicting' || state === 'unusable' ? [{ name, reason: reason ?? '' }] : [],
  );
  return {
    text: after,
    moved: moved.map(({ name }) => name),
    ...(kept !== undefined && { kept: kept.name }),
    staying,
  };
}

/** What the client has once its servers are put back into a text that has changed since. */
export function planReturn(
  client: Client,
  { before, now }: { readonly before: string; readonly now: string },
): string {
  const { format } = client;
  const was = format.servers(before);
  const is = format.servers(now);
  let after = now;
  const expected = new Map(is);
  for (const [name, value] of was) {
    if (is.has(name)) continue;
    after = format.withServer(after, name, value);
    expected.set(name, value);
  }
  if (!was.has(OWN_NAME) && is.has(OWN_NAME)) {
    after = format.withoutServer(after, OWN_NAME);
    expected.delete(OWN_NAME);
  }
  check(client, { before: now, after, expected });
  return after;
}

function check(
  { format }: Client,
  {
    before,
    after,
    expected,
  }: { readonly before: string; readonly after: string; readonly expected: ReadonlyMap<string, unknown> },
): void {
  let isWhole: boolean;
  try {
    isWhole =
      same(format.others(before), format.others(after)) &&
      same(named(format.servers(after)), named(expected));
  } catch {
    isWhole = false; // What was made of it cannot even be read.
  }
  if (!isWhole) throw new Error('it is written in a way that cannot be edited safely');
}

function named(servers: ReadonlyMap<string, unknown>): object {
  return Object.fromEntries(
    // A list repeats the name in each of them.
    [...servers].map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? { ...value, name } : value,
    ]),
  );
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(plain(a)) === canonicalJson(plain(b));
}

/** Without what JSON does not have, such as dates of TOML. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
  return text === undefined ? null : JSON.parse(text);
}
