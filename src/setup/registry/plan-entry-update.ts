import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RegistryEntry } from './registry-entry.ts';

/** The changes that bring an entry to the newest version in the registry. */
export interface EntryUpdate {
  /** Merged into the entry; a member that is undefined is removed. */
  readonly changes: JsonObject;
  /** The current version of the package, if the entry names it. */
  readonly version?: string | undefined;
  /** Names of new variables and headers. */
  readonly added: readonly string[];
  /** Whether a program is replaced by a URL, or the reverse. */
  readonly isKindChanged: boolean;
  /** The program or URL before and after, without possible secrets; absent if it stays the same. */
  readonly target?: { readonly from: string; readonly to: string } | undefined;
  /** Names of credentials that were set for another host. They are removed, so that the new host does not receive them. */
  readonly dropped?: readonly string[] | undefined;
}

interface TargetUpdate extends Pick<EntryUpdate, 'target' | 'version'> {
  readonly changes: JsonObject;
}

/** The members in which a registry entry has values for the user to fill in. */
const VALUE_KEYS = ['env', 'headers'] as const;

/**
 * Plans the update of an entry from the registry. Changes only members that the registry determines. The user's own values and arguments,
 * and all other settings, stay.
 */
export function planEntryUpdate(
  current: JsonObject,
  latest: RegistryEntry,
): EntryUpdate | { readonly problem: string } {
  const { entry } = latest;
  const isKindChanged = isRemote(current) !== isRemote(entry);
  if (isKindChanged) {
    const target = { from: formatTarget(current), to: formatTarget(entry, entry['args']) };
    return { changes: replaceKind(current, entry), added: [], isKindChanged, target };
  }
  if (isRemote(entry) && !isSameUrl(current, entry) && readOrigin(current) !== readOrigin(entry)) {
    return updateHost(current, entry);
  }
  const update = isRemote(entry) ? updateUrl(current, entry) : updatePackage(current, latest);
  if ('problem' in update) return update;
  const values = VALUE_KEYS.map((key) => [key, mergeValues(current[key], entry[key])] as const);
  return {
    changes: {
      ...update.changes,
      ...Object.fromEntries(
        values.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]])),
      ),
    },
    added: values.flatMap(([, { added }]) => added),
    isKindChanged,
    version: update.version,
    target: update.target,
  };
}

/** Replaces all members that say how the server is reached. */
function replaceKind(current: JsonObject, entry: JsonObject): JsonObject {
  const keys = ['command', 'args', 'env', 'url', 'type', 'headers', 'auth', 'cwd', 'cli'];
  const removed = keys
    .filter((key) => Object.hasOwn(current, key))
    .map((key): [string, undefined] => [key, undefined]);
  const { description: _description, registry: _registry, ...replacement } = entry;
  return { ...Object.fromEntries<undefined>(removed), ...replacement };
}

/**
 * Updates an entry to another host. Its credentials were meant for the old host and are removed. References are removed as well, since
 * their values are the same secrets; the user decides what the new host gets.
 */
function updateHost(current: JsonObject, entry: JsonObject): EntryUpdate {
  const { headers } = current;
  const secretKeys = ['authorizationToken', 'auth'].filter((key) => Object.hasOwn(current, key));
  const dropped = [...(isJsonObject(headers) ? Object.keys(headers) : []), ...secretKeys];
  const removedKeys = ['headers', 'serverUrl', ...secretKeys].filter((key) => Object.hasOwn(current, key));
  const newHeaders = isJsonObject(entry['headers']) ? Object.keys(entry['headers']) : [];
  return {
    changes: {
      ...Object.fromEntries(removedKeys.map((key): [string, undefined] => [key, undefined])),
      url: entry['url'],
      type: entry['type'],
    },
    added: newHeaders.filter((name) => !dropped.includes(name)),
    isKindChanged: false,
    target: { from: formatTarget(current), to: formatTarget(entry) },
    dropped: dropped.length > 0 ? dropped : undefined,
  };
}

function updateUrl(current: JsonObject, entry: JsonObject): TargetUpdate {
  if (isSameUrl(current, entry)) return { changes: {} };
  const target = { from: formatTarget(current), to: formatTarget(entry) };
  return { changes: { url: entry['url'], type: entry['type'] }, target };
}

function isSameUrl(current: JsonObject, entry: JsonObject): boolean {
  // The user fills in the references of a URL, so such URLs cannot be compared.
  return current['url'] === entry['url'] || String(entry['url']).includes('${');
}

function updatePackage(
  current: JsonObject,
  { entry, package: name = '' }: RegistryEntry,
): TargetUpdate | { readonly problem: string } {
  const words = filterStrings(current['args']);
  const at = words.findIndex((word) => isPackage(word, name));
  const currentWord = words[at] ?? '';
  const newWord = filterStrings(entry['args']).find((word) => isPackage(word, name));
  if (at < 0 || newWord === undefined || current['command'] !== entry['command']) {
    return { problem: 'its command was changed by hand' };
  }
  const version = currentWord.slice(name.length + 1) || undefined;
  if (currentWord === newWord) return { changes: {}, version };
  const target = { from: formatTarget(current, [currentWord]), to: formatTarget(entry, entry['args']) };
  return { changes: { args: words.with(at, newWord) }, version, target };
}

/** Matches the name of a package, alone or with a version. */
function isPackage(word: string, name: string): boolean {
  return word === name || word.startsWith(`${name}@`) || word.startsWith(`${name}:`);
}

/** Adds new values, and removes references that we added before and that are no longer needed. */
function mergeValues(
  before: unknown,
  now: unknown,
): { readonly value?: JsonObject; readonly added: readonly string[] } {
  const [current, wanted] = [isJsonObject(before) ? before : {}, isJsonObject(now) ? now : {}];
  const added = Object.keys(wanted).filter((key) => !Object.hasOwn(current, key));
  const remaining = Object.entries(current).filter(
    ([key, value]) => Object.hasOwn(wanted, key) || value !== `\${env:${key}}`,
  );
  if (added.length === 0 && remaining.length === Object.keys(current).length) return { added };
  const newMembers = added.map((key) => [key, wanted[key]] as const);
  return { value: Object.fromEntries([...remaining, ...newMembers]), added };
}

/**
 * Formats the program or URL of an entry. Omits the user's arguments and URL parameters, which may be secrets; `args` of the registry are
 * public.
 */
function formatTarget(entry: JsonObject, args?: unknown): string {
  if (!isRemote(entry)) return [String(entry['command']), ...filterStrings(args)].join(' ');
  const url = readUrl(entry);
  return url === undefined ? 'another URL' : `${url.origin}${url.pathname}`;
}

function readOrigin(entry: JsonObject): string | undefined {
  return readUrl(entry)?.origin;
}

function readUrl(entry: JsonObject): URL | undefined {
  const url = entry['url'] ?? entry['serverUrl'];
  return typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
}

function isRemote(entry: JsonObject): boolean {
  return entry['command'] === undefined;
}

function filterStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
