import { callerOf } from '../../auth/downstream/keys.ts';
import type { StoredKey } from '../../auth/downstream/key-store.ts';
import type { ProfileConfig } from '../../config/policy-config.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ToolEntry } from '../../model/entry.ts';
import { nearest } from '../../lib/nearest.ts';
import { tiers } from '../../policy/tiers.ts';
import type { AdminProfile, AdminSeenTool, AdminView } from '../contract/dashboard-contract.ts';
import { callerAsked } from '../shown/decision-explained.ts';
import type { AdminDeps } from '../deps.ts';
import { optionalText, route } from '../route.ts';
import type { AdminApp } from '../route.ts';

const DEFAULT = 'default';

/** Who may see what: profiles, and the view of somebody else. Nothing is started for it. */
export function accessRoutes(app: AdminApp, deps: AdminDeps): void {
  route(app, 'GET /api/profiles', async () => {
    const { profiles } = deps.config().value;
    const keys = await deps.keys.keys();
    const named = Object.entries(profiles);
    // Callers that are bound to none have it, whether it is configured or not.
    const all = Object.hasOwn(profiles, DEFAULT) ? named : [[DEFAULT, undefined] as const, ...named];
    return all.map(([name, profile]) => profileShown(name, profile, { deps, keys }));
  });
  route(app, 'GET /api/view', async ({ query, caller }) => {
    const name = optionalText(query, 'key');
    return viewShown(deps, name === undefined ? callerAsked(query, caller) : await ownerOf(name, deps));
  });
}

function profileShown(
  name: string,
  profile: ProfileConfig | undefined,
  { deps, keys }: { readonly deps: AdminDeps; readonly keys: readonly StoredKey[] },
): AdminProfile {
  const { sight } = deps.gateway;
  const { servers, tools, prompts, resources } = sight.view({ id: '', via: 'http', profile: name });
  const url = deps.url();
  const { description, expose } = profile ?? {};
  return {
    name,
    ...(description !== undefined && { description }),
    ...(expose !== undefined && { expose }),
    ...(url !== undefined && { url: name === DEFAULT ? url : `${url}/p/${encodeURIComponent(name)}` }),
    servers: servers.map((server) => server.name),
    tools: tools.length,
    prompts: prompts.length,
    resources: resources.length,
    keys: keys.filter((key) => (key.profile ?? DEFAULT) === name).map((key) => key.name),
  };
}

async function ownerOf(name: string, { keys }: AdminDeps): Promise<Caller> {
  const all = await keys.keys();
  const key = all.find((each) => each.name === name);
  if (key !== undefined) return callerOf(key);
  const [near] = nearest(
    name,
    all.map((each) => each.name),
    1,
  );
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  throw new GatewayError('ENTRY_NOT_FOUND', `There is no key "${name.slice(0, 100)}".${hint}`);
}

function viewShown({ gateway, config }: AdminDeps, caller: Caller): AdminView {
  const { id, profile, groups = [], roles = [], tier } = caller;
  const { tools, held } = gateway.sight.whole;
  const { decide, sees } = gateway.sight.of(caller);
  const tierOf = tiers(config().value.upstreams);
  const shown = (entry: ToolEntry, isHeld: boolean): AdminSeenTool => {
    const decision = decide(entry);
    // What is hidden stays so, approved or not.
    const verdict = isHeld && decision.verdict !== 'hide' ? 'held' : decision.verdict;
    const message = decision.verdict === 'ask' ? decision.message : undefined;
    return {
      ...{ name: entry.name, server: entry.upstream, tier: tierOf(entry), verdict, rule: decision.rule },
      ...(message !== undefined && { message }),
    };
  };
  return {
    caller: { id, profile, groups, roles, ...(tier !== undefined && { tier }) },
    servers: config().value.upstreams.map(({ name }) => ({ name, isSeen: sees(name) })),
    tools: [
      ...[...tools.values()].map((entry) => shown(entry, false)),
      ...[...held.tools.values()].map(({ entry }) => shown(entry, true)),
    ],
  };
}
