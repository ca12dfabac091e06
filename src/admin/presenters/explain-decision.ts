import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Caller } from '../../core/caller.ts';
import type { Entry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Tier } from '../../core/tier.ts';
import type { AdminDecision } from '../contract/approval-contract.ts';
import { readText } from '../add-route.ts';

const TIERS: readonly Tier[] = ['read', 'write', 'destructive'];

/** Returns the caller that a query describes, or the sender of the request if it describes none. */
export function parseCaller(query: JsonObject, sender: Caller): Caller {
  const id = readText(query, 'as');
  const profile = readText(query, 'profile');
  const groups = parseNames(query, 'groups');
  const roles = parseNames(query, 'roles');
  const tier = parseTier(query);
  if ([id, profile, groups, roles, tier].every((property) => property === undefined)) return sender;
  return {
    id: id ?? sender.id,
    via: 'http',
    profile: profile ?? 'default',
    groups,
    roles,
    tier,
  };
}

function parseNames(query: JsonObject, key: string): readonly string[] | undefined {
  const names = (readText(query, key) ?? '').split(',').filter((name) => name !== '');
  return names.length === 0 ? undefined : names;
}

function parseTier(query: JsonObject): Tier | undefined {
  const text = readText(query, 'tier');
  const tier = TIERS.find((known) => known === text);
  if (text !== undefined && tier === undefined)
    throw new GatewayError('USAGE', '"tier" must be "read", "write" or "destructive".');
  return tier;
}

/** Returns the decision of the rules about an entry, even if the entry is hidden from the caller. */
export function explainDecision(gateway: Gateway, name: string, caller: Caller): AdminDecision | undefined {
  const entry = findNamedEntry(gateway.visibility.unfiltered, name);
  if (entry === undefined) return undefined;
  return {
    caller: caller.id,
    profile: caller.profile,
    ...gateway.visibility.policyFor(caller).decide(entry),
  };
}

/** Finds an entry, held or not, by its exposed name, or by its original name if only one server uses that name. */
function findNamedEntry(
  { tools, prompts, resources, templates, held }: Snapshot,
  name: string,
): Entry | undefined {
  const named: readonly Extract<Entry, { name: string }>[] = [
    ...tools.values(),
    ...prompts.values(),
    ...[...held.tools.values(), ...held.prompts.values()].map(({ entry }) => entry),
  ];
  const exposed = named.find((entry) => entry.name === name);
  if (exposed !== undefined) return exposed;
  const originals = named.filter(({ definition }) => definition.name === name);
  if (originals.length === 1) return originals[0];
  return resources.get(name) ?? templates.find(({ uriTemplate }) => uriTemplate === name);
}
