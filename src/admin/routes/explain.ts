import { mayBelongTo } from '../../catalog/naming.ts';
import { quarantined } from '../../gateway/calls/route.ts';
import type { View } from '../../gateway/view.ts';
import { matchesGlob } from '../../lib/glob.ts';
import { nearest } from '../../lib/nearest.ts';
import { shellWord } from '../../lib/shell-word.ts';
import type { Caller } from '../../model/caller.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { AdminExplanation, AdminServer } from '../contract/contract.ts';
import type { AdminDeps } from '../deps.ts';
import { clientExplained } from '../shown/client-explained.ts';
import { callerAsked, decisionExplained } from '../shown/decision-explained.ts';
import { optionalText, route, text } from '../route.ts';
import type { AdminApp } from '../route.ts';
import { serverFix } from '../shown/server-fix.ts';
import { foreseenServers } from '../shown/server-shown.ts';

type Found = Omit<AdminExplanation, 'name'>;

/** Why a name is as it is, for `why` and `preflight`. Nothing is started to find out. */
export function explainRoutes(app: AdminApp, deps: AdminDeps): void {
  route(app, 'GET /api/explain', async ({ query, caller: asking }) => {
    const servers = await foreseenServers(deps);
    const caller = callerAsked(query, asking);
    const view = deps.gateway.view(caller);
    const client = optionalText(query, 'client');
    const { name, forClient } = clientExplained(view, text(query, 'name'), client);
    const found = withPause(
      ofEntry(name, view, servers) ??
        ofServer(name, servers) ??
        ofHeld(name, deps) ??
        ofRule(name, deps, caller) ??
        ofHidden(name, deps) ??
        ofUnlisted(name, deps, servers) ??
        ofNoTool(name, view, { servers, separator: deps.config().value.names.separator }) ??
        unknown(name, view, servers),
      deps,
    );
    const decision = decisionExplained(deps.gateway, name, caller);
    return {
      ...{ name, ...found },
      ...(decision !== undefined && { decision }),
      ...(forClient !== undefined && { forClient }),
    };
  });
}

/** Whatever else is right, no call gets through a gateway that is paused. */
function withPause(found: Found, { pause: { since } }: AdminDeps): Found {
  if (since === undefined || found.verdict === 'unknown') return found;
  const reason = `The gateway is paused since ${new Date(since).toISOString()}, so that every call is refused.`;
  return { ...found, reasons: [reason, ...found.reasons], fixes: ['trunkline resume', ...found.fixes] };
}

/** Offered, and waiting for a person. */
function ofHeld(name: string, { gateway }: AdminDeps): Found | undefined {
  const { tools, prompts } = gateway.sight.whole.held;
  const held = [...tools.values(), ...prompts.values()].find(({ entry }) => entry.name === name);
  if (held === undefined) return undefined;
  const { entry, reason } = held;
  return {
    ...{ verdict: 'held', kind: entry.kind, server: entry.upstream, original: entry.definition.name },
    reasons: [quarantined(held).message],
    fixes:
      reason === 'refused'
        ? []
        : [`trunkline approvals`, `trunkline approvals accept ${shellWord(entry.name)}`],
    near: [],
  };
}

/** Offered, but not to this caller. */
function ofRule(name: string, { gateway }: AdminDeps, caller: Caller): Found | undefined {
  const decision = decisionExplained(gateway, name, caller);
  if (decision?.verdict !== 'hide') return undefined;
  return {
    verdict: 'hidden',
    reasons: [`For caller "${caller.id}" with profile "${caller.profile}", ${decision.rule} hides it.`],
    fixes: [`Change what decides ("${decision.rule}") below "policy" or "profiles" of the configuration.`],
    near: [],
  };
}

function ofEntry(name: string, view: View, servers: readonly AdminServer[]): Found | undefined {
  const tool = view.tool(name);
  if (tool !== undefined)
    return { kind: 'tool', original: tool.definition.name, ...reachable(tool.upstream, servers) };
  const prompt = view.prompts.find((each) => each.name === name);
  if (prompt !== undefined)
    return { kind: 'prompt', original: prompt.definition.name, ...reachable(prompt.upstream, servers) };
  const resource = view.resources.find(({ uri }) => uri === name);
  if (resource !== undefined)
    return { kind: 'resource', original: resource.definition.uri, ...reachable(resource.upstream, servers) };
  return undefined;
}

function ofServer(name: string, servers: readonly AdminServer[]): Found | undefined {
  const server = servers.find((each) => each.name === name);
  if (server === undefined) return undefined;
  const found: Found = { kind: 'server', ...reachable(name, servers) };
  if (found.verdict !== 'usable') return found;
  if (server.listedAt !== undefined) {
    const reasons = [`Server "${name}" offers ${server.tools} tools. It is ${server.state}.`];
    return { ...found, reasons };
  }
  const reasons = [`Server "${name}" has not said yet what it offers.`];
  return { ...found, verdict: 'unlisted', reasons, fixes: [`trunkline refresh ${shellWord(name)}`] };
}

function reachable(server: string, servers: readonly AdminServer[]): Found {
  const status = servers.find(({ name }) => name === server);
  if (status?.enabled === false) return disabled(server);
  if (status?.problem === undefined) {
    const state = status === undefined ? '' : ` It is ${status.state}.`;
    return {
      verdict: 'usable',
      server,
      reasons: [`Server "${server}" offers it.${state}`],
      fixes: [],
      near: [],
    };
  }
  const { code, message } = status.problem;
  return {
    verdict: code === 'QUARANTINED' ? 'held' : 'unreachable',
    server,
    reasons: [
      message.toLowerCase().startsWith(`server "${server.toLowerCase()}"`)
        ? `S${message.slice(1)}`
        : `Server "${server}" cannot be used: ${message}`,
    ],
    fixes: [serverFix(status)],
    near: [],
  };
}

function disabled(server: string): Found {
  const reasons = [`Server "${server}" is disabled in the configuration.`];
  return { verdict: 'disabled', server, reasons, fixes: [`trunkline enable ${shellWord(server)}`], near: [] };
}

/** Offered by a server, but kept back by the lists of its configuration. */
function ofHidden(name: string, { gateway, config }: AdminDeps): Found | undefined {
  const { upstreams, names } = config().value;
  for (const { name: server, tools } of upstreams) {
    const plain = (own: string): string =>
      `${server}${names.separator}${own}`.replace(/[^A-Za-z0-9_-]/gu, '_');
    const hidden = gateway.servers
      .listing(server)
      ?.tools.find(({ definition }) => definition.name === name || plain(definition.name) === name);
    if (hidden === undefined) continue;
    const original = hidden.definition.name;
    const denied = tools.deny.find((glob) => matchesGlob(original, glob));
    const allowed = tools.allow.some((glob) => matchesGlob(original, glob));
    if (denied === undefined && allowed) continue;
    const key = `mcpServers.${server}.tools`;
    return {
      verdict: 'hidden',
      kind: 'tool',
      server,
      original,
      reasons: [
        denied === undefined
          ? `No pattern of ${key}.allow matches "${original}".`
          : `The pattern "${denied}" of ${key}.deny matches "${original}".`,
      ],
      fixes: [
        denied === undefined ? `Add "${original}" to ${key}.allow.` : `Change "${denied}" in ${key}.deny.`,
      ],
      near: [],
    };
  }
  return undefined;
}

/** The name begins like those of a server of which nothing is known yet. */
function ofUnlisted(name: string, deps: AdminDeps, servers: readonly AdminServer[]): Found | undefined {
  const { separator } = deps.config().value.names;
  const server = servers.find(
    (each) => each.listedAt === undefined && mayBelongTo(name, each.name as UpstreamName, separator),
  );
  if (server === undefined) return undefined;
  const found = reachable(server.name, servers);
  if (found.verdict !== 'usable') return found;
  const reasons = [`Server "${server.name}" has not said yet what it offers.`];
  const fixes = [`trunkline refresh ${shellWord(server.name)}`];
  return { verdict: 'unlisted', server: server.name, reasons, fixes, near: [] };
}

/** The name begins like those of a server that has said what it offers, and this is not among it. */
function ofNoTool(
  name: string,
  view: View,
  { servers, separator }: { readonly servers: readonly AdminServer[]; readonly separator: string },
): Found | undefined {
  const [server] = servers
    .map((each) => each.name)
    .filter((each) => mayBelongTo(name, each as UpstreamName, separator))
    // Of two servers of which one is called like the beginning of the other, it is the other's.
    .toSorted((a, b) => b.length - a.length);
  if (server === undefined) return undefined;
  // All of them begin alike, which must not make all of them near.
  const start = server.length + separator.length;
  const own = new Map(
    [...view.tools, ...view.prompts].flatMap((entry) =>
      entry.upstream === server ? [[entry.name.slice(start), entry.name] as const] : [],
    ),
  );
  const near = nearest(name.slice(start), own.keys(), 5).flatMap((each) => own.get(each) ?? []);
  const reasons = [`Server "${server}" is there, and lists no tool or prompt "${name.slice(0, 200)}".`];
  const fixes = near.length === 0 ? [`See what it offers with: trunkline tools ${shellWord(server)}`] : [];
  return { verdict: 'unknown', reasons, fixes, near };
}

function unknown(name: string, view: View, servers: readonly AdminServer[]): Found {
  const tools = view.tools.filter(({ definition }) => definition.name === name).map((tool) => tool.name);
  const all = [...view.tools, ...view.prompts].map((entry): string => entry.name);
  const near =
    tools.length > 0 ? tools.slice(0, 10) : nearest(name, [...all, ...servers.map((each) => each.name)], 5);
  const reasons = [`There is no server of this name, and no server offers "${name.slice(0, 200)}".`];
  const fixes = near.length === 0 ? ['See what there is with: trunkline tools'] : [];
  return { verdict: 'unknown', reasons, fixes, near };
}
