import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { RegistryEntry } from './registry-entry.ts';

/** What an entry needs to be that of the newest version; members that are undefined go. */
export interface RenewedEntry {
  readonly changes: JsonObject;
  /** Of the package, as far as the entry says it. */
  readonly version?: string;
  /** Variables and headers that were not there before. */
  readonly added: readonly string[];
  /** Whether a program becomes an address, or the other way round. */
  readonly isOtherKind: boolean;
  /** What is run or reached before and after, without what may be secret; absent when it is the same. */
  readonly reached?: { readonly from: string; readonly to: string };
  /** What was set for another host and would now be sent to this one, so that it goes. */
  readonly dropped?: readonly string[];
}

/** The places where a registry puts what a person fills in. */
const FILLED = ['env', 'headers'] as const;

/**
 * Brings an entry of a configuration to what the registry says now. Only what the registry decides is touched: values that a
 * person gave, words they added to the command, and all other settings stay.
 */
export function renewedEntry(
  current: JsonObject,
  fresh: RegistryEntry,
): RenewedEntry | { readonly problem: string } {
  const { entry } = fresh;
  const isOtherKind = isAddress(current) !== isAddress(entry);
  if (isOtherKind) {
    const reached = { from: shownReach(current), to: shownReach(entry, entry['args']) };
    return { changes: otherKind(current, entry), added: [], isOtherKind, reached };
  }
  if (isMoved(current, entry)) return moved(current, entry);
  const reached = isAddress(entry) ? addressed(current, entry) : packaged(current, fresh);
  if ('problem' in reached) return reached;
  const filled = FILLED.map((key) => [key, merged(current[key], entry[key])] as const);
  const changes = {
    ...reached.changes,
    ...Object.fromEntries(filled.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]]))),
  };
  const added = filled.flatMap(([, each]) => each.added);
  return {
    changes,
    added,
    isOtherKind,
    ...(reached.version !== undefined && { version: reached.version }),
    ...(reached.reached !== undefined && { reached: reached.reached }),
  };
}

interface Reached extends Pick<RenewedEntry, 'reached'> {
  readonly changes: JsonObject;
  readonly version?: string;
}

/** Whether the same entry would speak to another host. */
function isMoved(current: JsonObject, entry: JsonObject): boolean {
  return isAddress(entry) && !isSameAddress(current, entry) && originOf(current) !== originOf(entry);
}

/**
 * What the entry had to prove itself with was for the other host. References go as well, since their values are the same
 * secrets; a person says again what the new one gets.
 */
function moved(current: JsonObject, entry: JsonObject): RenewedEntry {
  const { headers } = current;
  const secret = ['authorizationToken', 'auth'].filter((key) => Object.hasOwn(current, key));
  const dropped = [...(isJsonObject(headers) ? Object.keys(headers) : []), ...secret];
  const gone = ['headers', 'serverUrl', ...secret].filter((key) => Object.hasOwn(current, key));
  const asked = isJsonObject(entry['headers']) ? Object.keys(entry['headers']) : [];
  return {
    changes: {
      ...Object.fromEntries(gone.map((key): [string, undefined] => [key, undefined])),
      url: entry['url'],
      type: entry['type'],
    },
    added: asked.filter((name) => !dropped.includes(name)),
    isOtherKind: false,
    reached: { from: shownReach(current), to: shownReach(entry) },
    ...(dropped.length > 0 && { dropped }),
  };
}

function addressed(current: JsonObject, entry: JsonObject): Reached {
  if (isSameAddress(current, entry)) return { changes: {} };
  const reached = { from: shownReach(current), to: shownReach(entry) };
  return { changes: { url: entry['url'], type: entry['type'] }, reached };
}

function isSameAddress(current: JsonObject, entry: JsonObject): boolean {
  // An address with references was filled in, or stays to be.
  return current['url'] === entry['url'] || String(entry['url']).includes('${');
}

function addressOf(entry: JsonObject): URL | undefined {
  const address = entry['url'] ?? entry['serverUrl'];
  return typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
}

function originOf(entry: JsonObject): string | undefined {
  return addressOf(entry)?.origin;
}

/** Parameters, names and words of a person may be secrets; those of the registry are public. */
function shownReach(entry: JsonObject, args?: unknown): string {
  if (!isAddress(entry)) return [String(entry['command']), ...strings(args)].join(' ');
  const address = addressOf(entry);
  return address === undefined ? 'another address' : `${address.origin}${address.pathname}`;
}

function packaged(
  current: JsonObject,
  { entry, package: name = '' }: RegistryEntry,
): Reached | { readonly problem: string } {
  const words = strings(current['args']);
  const at = words.findIndex((word) => isPackage(word, name));
  const word = strings(entry['args']).find((each) => isPackage(each, name));
  if (at < 0 || word === undefined || current['command'] !== entry['command'])
    return { problem: 'its command was changed by hand' };
  const version = (words[at] ?? '').slice(name.length + 1);
  return {
    changes: words[at] === word ? {} : { args: words.with(at, word) },
    ...(version !== '' && { version }),
    ...(words[at] !== word && {
      reached: { from: shownReach(current, [words[at]]), to: shownReach(entry, entry['args']) },
    }),
  };
}

/** A name alone, or with a version behind it. */
function isPackage(word: string, name: string): boolean {
  return word === name || word.startsWith(`${name}@`) || word.startsWith(`${name}:`);
}

/** What is new is added, and a reference of ours that is no longer asked for goes; the value is undefined where nothing changes. */
function merged(
  before: unknown,
  now: unknown,
): { readonly value?: JsonObject; readonly added: readonly string[] } {
  const [own, asked] = [isJsonObject(before) ? before : {}, isJsonObject(now) ? now : {}];
  const added = Object.keys(asked).filter((key) => !Object.hasOwn(own, key));
  const kept = Object.entries(own).filter(
    ([key, value]) => Object.hasOwn(asked, key) || value !== `\${env:${key}}`,
  );
  if (added.length === 0 && kept.length === Object.keys(own).length) return { added };
  return { value: { ...Object.fromEntries(kept), ...pick(asked, added) }, added };
}

/** What says how the server is reached is replaced whole. */
function otherKind(current: JsonObject, entry: JsonObject): JsonObject {
  const old = ['command', 'args', 'env', 'url', 'type', 'headers', 'auth', 'cwd', 'cli'];
  const gone = old
    .filter((key) => Object.hasOwn(current, key))
    .map((key): [string, undefined] => [key, undefined]);
  const { description: _description, registry: _registry, ...reached } = entry;
  return { ...Object.fromEntries<undefined>(gone), ...reached };
}

function pick(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, value[key]]));
}

function isAddress(entry: JsonObject): boolean {
  return entry['command'] === undefined;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
