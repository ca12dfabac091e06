import { callerForKey } from '../../auth/downstream/key-provider.ts';
import type { StoredKey } from '../../auth/downstream/key-store.ts';
import type { ProfileConfig } from '../../config/policy-config.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ToolEntry } from '../../core/entry.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import { createTierLookup } from '../../policy/tool-tiers.ts';
import type { AdminProfile, AdminToolDecision, AdminCallerView } from '../contract/dashboard-contract.ts';
import { addRoute, readText } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { suggestNames } from '../calls/find-entry.ts';
import { parseCaller } from '../presenters/explain-decision.ts';

const DEFAULT_PROFILE = 'default';

/** Adds the routes for profiles and for the view of another caller. They start no server. */
export function addAccessRoutes(app: AdminApp, deps: AdminDeps): void {
  addRoute(app, 'GET /api/profiles', async () => {
    const { profiles } = deps.config().value;
    const keys = await deps.keys.keys();
    const configured = Object.entries(profiles);
    // Callers without a profile use the default one, whether it is configured or not.
    const all = Object.hasOwn(profiles, DEFAULT_PROFILE)
      ? configured
      : [[DEFAULT_PROFILE, undefined] as const, ...configured];
    return all.map(([name, profile]) => presentProfile(name, profile, { deps, keys }));
  });
  addRoute(app, 'GET /api/view', async ({ query, caller }) => {
    const name = readText(query, 'key');
    return presentView(deps, name === undefined ? parseCaller(query, caller) : await ownerOfKey(name, deps));
  });
}

function presentProfile(
  name: string,
  profile: ProfileConfig | undefined,
  { deps, keys }: { readonly deps: AdminDeps; readonly keys: readonly StoredKey[] },
): AdminProfile {
  const { visibility } = deps.gateway;
  const { servers, tools, prompts, resources } = visibility.view({ id: '', via: 'http', profile: name });
  const url = deps.url();
  return {
    name,
    description: profile?.description,
    expose: profile?.expose,
    url: name === DEFAULT_PROFILE ? url : url && `${url}/p/${encodeURIComponent(name)}`,
    servers: servers.map((server) => server.name),
    tools: tools.length,
    prompts: prompts.length,
    resources: resources.length,
    keys: keys.filter((key) => (key.profile ?? DEFAULT_PROFILE) === name).map((key) => key.name),
  };
}

async function ownerOfKey(name: string, { keys }: AdminDeps): Promise<Caller> {
  const all = await keys.keys();
  const match = all.find((key) => key.name === name);
  if (match !== undefined) return callerForKey(match);
  const names = all.map((key) => key.name);
  const hint = suggestNames(findSimilar(name, names, 1));
  throw new GatewayError('ENTRY_NOT_FOUND', `There is no key "${name.slice(0, 100)}".${hint}`);
}

function presentView({ gateway, config }: AdminDeps, caller: Caller): AdminCallerView {
  const { id, profile, groups = [], roles = [], tier } = caller;
  const { tools, held } = gateway.visibility.unfiltered;
  const { decide, canSee } = gateway.visibility.policyFor(caller);
  const tierOf = createTierLookup(config().value.upstreams);
  const presentTool = (entry: ToolEntry, isHeld: boolean): AdminToolDecision => {
    const decision = decide(entry);
    // A tool that the rules hide stays hidden when it is approved.
    const verdict = isHeld && decision.verdict !== 'hide' ? 'held' : decision.verdict;
    return {
      name: entry.name,
      server: entry.upstream,
      tier: tierOf(entry),
      verdict,
      rule: decision.rule,
      message: decision.verdict === 'ask' ? decision.message : undefined,
    };
  };
  return {
    caller: { id, profile, groups, roles, tier },
    servers: config().value.upstreams.map(({ name }) => ({ name, isSeen: canSee(name) })),
    tools: [
      ...[...tools.values()].map((entry) => presentTool(entry, false)),
      ...[...held.tools.values()].map(({ entry }) => presentTool(entry, true)),
    ],
  };
}
