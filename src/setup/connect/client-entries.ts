import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import type { LaunchEntry, NeededVariables } from '../import/sources/client-declaration.ts';
import type { ConnectableClient } from './connectable-clients.ts';

/** The name of the client's entry for Trunkline. */
export const OWN_NAME = 'trunkline';

/** The entries that `connect` writes. */
export interface ClientEntries {
  /** Entries by name: one for Trunkline, or one per server. */
  readonly entries: ReadonlyMap<string, JsonObject>;
  /** Members to add to an existing entry of ours that lacks them. */
  readonly additions: JsonObject;
}

/** Builds the entry with which a client starts Trunkline. */
export function buildProgramEntry(
  { declaration }: Pick<ConnectableClient, 'declaration'>,
  launch: LaunchEntry,
  { referenced, set, session }: NeededVariables,
): ClientEntries {
  const { program = (entry: LaunchEntry) => ({ ...entry }), extra, keepLoaded } = declaration;
  // A variable that `launch` sets itself is not handed over.
  const isOpen = (name: string): boolean => launch.env?.[name] === undefined;
  const needed = {
    referenced: referenced.filter(isOpen),
    set: set.filter(isOpen),
    session: session.filter(isOpen),
  };
  const handedOverMembers = Object.entries(declaration.variables?.(needed) ?? {});
  const { env: handedOver, ...others }: JsonObject = Object.fromEntries(
    handedOverMembers.filter(([, value]) => Object.keys(value as object).length > 0), // Every value is a list or a map.
  );
  const env = { ...(isJsonObject(handedOver) ? handedOver : {}), ...launch.env } as Record<string, string>; // Both contain only strings.
  const { env: _, ...command } = launch;
  const entry = {
    ...extra,
    ...program(Object.keys(env).length === 0 ? command : { ...command, env }),
    ...others,
    ...keepLoaded,
  };
  const additions = omitUndefined({ env: handedOver, ...others, ...keepLoaded });
  return { entries: new Map([[OWN_NAME, entry]]), additions };
}

/** Builds one entry per server, each with its address at a running gateway. Returns undefined if the client only starts programs. */
export function buildSplitEntries(
  { declaration: { remote } }: Pick<ConnectableClient, 'declaration'>,
  servers: readonly string[],
  { baseUrl, isTaken }: { readonly baseUrl: string; readonly isTaken: (name: string) => boolean },
): ClientEntries | undefined {
  if (remote === undefined) return undefined;
  const entries = new Map<string, JsonObject>();
  for (const server of servers) {
    const name = chooseName(server, (candidate) => entries.has(candidate) || isTaken(candidate));
    entries.set(name, remote(`${baseUrl}/mcp/s/${encodeURIComponent(server)}`, name));
  }
  return { entries, additions: {} };
}

/**
 * Returns a free name for the entry of a server. Clients accept only letters, digits, `_` and `-`, because the name becomes a part of tool
 * names.
 */
function chooseName(server: string, isTaken: (name: string) => boolean): string {
  const base = server.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'server';
  const candidates = [base, `${base}-${OWN_NAME}`];
  const free = candidates.find((name) => !isTaken(name));
  if (free !== undefined) return free;
  for (let count = 2; ; count++) if (!isTaken(`${base}-${count}`)) return `${base}-${count}`;
}

/** Adds the members that an entry lacks. Lists and maps get their missing items; every other value stays. */
export function addMissingMembers(entry: JsonObject, additions: JsonObject): JsonObject {
  const added = Object.entries(additions).map(([key, value]) => {
    const existing = entry[key];
    if (existing === undefined) return [key, value] as const;
    if (Array.isArray(existing) && Array.isArray(value)) {
      const items: readonly unknown[] = existing;
      return [key, [...new Set(items.concat(value))]] as const;
    }
    if (isJsonObject(existing) && isJsonObject(value)) return [key, { ...value, ...existing }] as const;
    return [key, existing] as const;
  });
  return { ...entry, ...Object.fromEntries(added) };
}
