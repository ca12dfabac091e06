import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Caller } from '../../model/caller.ts';
import type { Entry } from '../../model/entry.ts';
import { GatewayError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Tier } from '../../model/tier.ts';
import type { AdminDecision } from '../contract/approval-contract.ts';
import { optionalText } from '../route.ts';

const TIERS: readonly Tier[] = ['read', 'write', 'destructive'];

/** Whom a question is about: whoever asks, unless it names somebody else. */
export function callerAsked(query: JsonObject, caller: Caller): Caller {
  const [id, profile, tier] = ['as', 'profile', 'tier'].map((key) => optionalText(query, key));
  const [groups, roles] = ['groups', 'roles'].map((key) =>
    (optionalText(query, key) ?? '').split(',').filter((each) => each !== ''),
  );
  const known = TIERS.find((each) => each === tier);
  if (tier !== undefined && known === undefined)
    throw new GatewayError('USAGE', '"tier" must be "read", "write" or "destructive".');
  if ([id, profile, tier].every((each) => each === undefined) && groups?.length === 0 && roles?.length === 0)
    return caller;
  return {
    id: id ?? caller.id,
    via: 'http',
    profile: profile ?? 'default',
    ...(groups !== undefined && groups.length > 0 && { groups }),
    ...(roles !== undefined && roles.length > 0 && { roles }),
    ...(known !== undefined && { tier: known }),
  };
}

/** What the rules say about an entry, whether the caller may know of it or not. */
export function decisionExplained(gateway: Gateway, name: string, caller: Caller): AdminDecision | undefined {
  const entry = entryNamed(gateway.sight.whole, name);
  if (entry === undefined) return undefined;
  return { caller: caller.id, profile: caller.profile, ...gateway.sight.of(caller).decide(entry) };
}

/** By the name that clients see, else by the server's own if only one server has it; also what is held. */
function entryNamed(
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
  const own = named.filter(({ definition }) => definition.name === name);
  if (own.length === 1) return own[0];
  return resources.get(name) ?? templates.find(({ uriTemplate }) => uriTemplate === name);
}
