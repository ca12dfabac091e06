import { canBelongTo } from '../../catalog/exposed-names.ts';
import type { Caller } from '../../core/caller.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import { matchesGlob } from '../../core/lib/matches-glob.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { explainRewrites } from '../../exposure/client-limits/explain-rewrites.ts';
import { heldEntryError } from '../../gateway/calls/resolve-operation.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import { explainTierConflict } from '../../policy/tool-tiers.ts';
import { addRoute, readText, requireText } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminExplanation, AdminServer } from '../contract/contract.ts';
import { findByTypedName } from '../calls/find-entry.ts';
import { explainDecision, parseCaller } from '../presenters/explain-decision.ts';
import { presentCheckedServers } from '../presenters/present-servers.ts';
import { suggestServerFix } from '../presenters/suggest-server-fix.ts';

type Explanation = Omit<AdminExplanation, 'name'>;

/** Adds the route that explains whether a caller can use the server or entry with a name, for `trunkline why` and `trunkline preflight`. It starts no server. */
export function addExplainRoutes(app: AdminApp, deps: AdminDeps): void {
  addRoute(app, 'GET /api/explain', async ({ query, caller: sender }) => {
    const servers = await presentCheckedServers(deps);
    const caller = parseCaller(query, sender);
    const view = deps.gateway.view(caller);
    const client = readText(query, 'client');
    const typed = requireText(query, 'name');
    const isServer = servers.some((server) => server.name === typed);
    const alias = isServer ? undefined : findByTypedName([...view.tools, ...view.prompts], typed)?.name;
    const { name, forClient } = explainForClient(view, alias ?? typed, client);
    const { separator } = deps.config().value.names;
    // The first explanation that applies wins, so the order runs from visible entries to unknown names.
    const explanation =
      explainEntry(name, view, { servers, deps }) ??
      explainServer(name, servers) ??
      explainHeldEntry(name, deps) ??
      explainHidingRule(name, deps, caller) ??
      explainHidingPattern(name, deps) ??
      explainUnlistedServer(name, separator, servers) ??
      explainMissingEntry(name, view, { servers, separator }) ??
      explainUnknownName(name, view, servers);
    const decision = explainDecision(deps.gateway, name, caller);
    return { name, ...addPause(explanation, deps), decision, forClient };
  });
}

/** Explains how a client sees a tool. `requestedName` may be a name that only this client sees. */
function explainForClient(
  view: CatalogView,
  requestedName: string,
  client: string | undefined,
): Pick<AdminExplanation, 'name' | 'forClient'> {
  if (client === undefined) return { name: requestedName };
  const known = explainRewrites(view, client);
  if (known === undefined)
    return explainUnchanged(view, requestedName, client, `No limits of the client "${client}" are known`);
  const { limits, rewrites, excess } = known;
  const name = rewrites.find(({ clientName }) => clientName === requestedName)?.tool ?? requestedName;
  const ownRewrites = rewrites.filter(({ tool }) => tool === name);
  const says = ownRewrites.map((rewrite) => rewrite.explanation);
  if (excess > 0)
    says.push(
      `${limits.client} accepts at most ${limits.tools} tools, and the gateway offers ${excess} more. Set "expose" to "search".`,
    );
  if (says.length === 0)
    return explainUnchanged(view, name, limits.client, `The tool is within the limits of ${limits.client}`);
  const clientName = ownRewrites.find((rewrite) => rewrite.clientName !== undefined)?.clientName ?? name;
  return { name, forClient: { client: limits.client, name: clientName, says } };
}

/** Explains that a client sees a tool unchanged. Only tools are adapted to clients, so other entries get no explanation. */
function explainUnchanged(
  view: CatalogView,
  name: string,
  client: string,
  reason: string,
): Pick<AdminExplanation, 'name' | 'forClient'> {
  if (view.tool(name) === undefined) return { name };
  return { name, forClient: { client, name, says: [`${reason}, so the client sees it unchanged.`] } };
}

/** Adds a pause of the gateway as the first reason, because a paused gateway refuses every call. */
function addPause(explanation: Explanation, { pause: { since } }: AdminDeps): Explanation {
  if (since === undefined || explanation.verdict === 'unknown') return explanation;
  const reason = `The gateway has been paused since ${new Date(since).toISOString()} and refuses every call.`;
  return {
    ...explanation,
    reasons: [reason, ...explanation.reasons],
    fixes: ['trunkline resume', ...explanation.fixes],
  };
}

function explainEntry(
  name: string,
  view: CatalogView,
  { servers, deps }: { readonly servers: readonly AdminServer[]; readonly deps: AdminDeps },
): Explanation | undefined {
  const tool = view.tool(name);
  if (tool !== undefined) {
    const reachability = explainReachability(tool.upstream, servers);
    const conflict = explainTierConflict(deps.config().value.upstreams, tool);
    const reasons = [...reachability.reasons, ...(conflict === undefined ? [] : [conflict])];
    return { kind: 'tool', original: tool.definition.name, ...reachability, reasons };
  }
  const prompt = view.prompts.find((entry) => entry.name === name);
  if (prompt !== undefined)
    return {
      kind: 'prompt',
      original: prompt.definition.name,
      ...explainReachability(prompt.upstream, servers),
    };
  const resource = view.resources.find(({ uri }) => uri === name);
  if (resource !== undefined)
    return {
      kind: 'resource',
      original: resource.definition.uri,
      ...explainReachability(resource.upstream, servers),
    };
  return undefined;
}

function explainServer(name: string, servers: readonly AdminServer[]): Explanation | undefined {
  const server = servers.find((candidate) => candidate.name === name);
  if (server === undefined) return undefined;
  const explanation: Explanation = { kind: 'server', ...explainReachability(name, servers) };
  if (explanation.verdict !== 'usable') return explanation;
  if (server.listedAt === undefined) return { ...explanation, ...explainUnlisted(name) };
  const reasons = [`Server "${name}" offers ${server.tools} tools. Its state is ${server.state}.`];
  return { ...explanation, reasons };
}

function explainReachability(server: string, servers: readonly AdminServer[]): Explanation {
  const status = servers.find(({ name }) => name === server);
  if (status?.enabled === false) return explainDisabledServer(server);
  if (status?.problem === undefined) {
    const state = status === undefined ? '' : ` Its state is ${status.state}.`;
    const reasons = [`Server "${server}" offers it.${state}`];
    return { verdict: 'usable', server, reasons, fixes: [], near: [] };
  }
  const { code, message, summary = message } = status.problem;
  return {
    verdict: code === 'QUARANTINED' ? 'held' : 'unreachable',
    server,
    reasons: [summary],
    fixes: [suggestServerFix(status)],
    near: [],
  };
}

function explainDisabledServer(server: string): Explanation {
  const reasons = [`Server "${server}" is disabled in the configuration.`];
  const fixes = [`trunkline enable ${quoteShellWord(server)}`];
  return { verdict: 'disabled', server, reasons, fixes, near: [] };
}

function explainUnlisted(server: string): Explanation {
  const reasons = [`The tools of server "${server}" have not been fetched yet.`];
  const fixes = [`trunkline refresh ${quoteShellWord(server)}`];
  return { verdict: 'unlisted', server, reasons, fixes, near: [] };
}

function explainHeldEntry(name: string, { gateway }: AdminDeps): Explanation | undefined {
  const { tools, prompts } = gateway.visibility.unfiltered.held;
  const held = [...tools.values(), ...prompts.values()].find(({ entry }) => entry.name === name);
  if (held === undefined) return undefined;
  const { entry, reason } = held;
  const acceptCommands = ['trunkline approvals', `trunkline approvals accept ${quoteShellWord(entry.name)}`];
  return {
    verdict: 'held',
    kind: entry.kind,
    server: entry.upstream,
    original: entry.definition.name,
    reasons: [heldEntryError(held).message],
    fixes: reason === 'refused' ? [] : acceptCommands,
    near: [],
  };
}

/** Explains an entry that the rules hide from this caller. */
function explainHidingRule(name: string, { gateway }: AdminDeps, caller: Caller): Explanation | undefined {
  const decision = explainDecision(gateway, name, caller);
  if (decision?.verdict !== 'hide') return undefined;
  return {
    verdict: 'hidden',
    reasons: [`For caller "${caller.id}" with profile "${caller.profile}", ${decision.rule} hides it.`],
    fixes: [`Change "${decision.rule}" under "policy" or "profiles" in the configuration.`],
    near: [],
  };
}

/** Explains a tool that the "allow" or "deny" patterns of its server hide. */
function explainHidingPattern(name: string, { gateway, config }: AdminDeps): Explanation | undefined {
  const { upstreams, names } = config().value;
  for (const { name: server, tools } of upstreams) {
    // The catalog has no exposed names for hidden tools, so the usual one (server, separator, tool) is built here.
    const exposedName = (original: string): string =>
      `${server}${names.separator}${original}`.replace(/[^A-Za-z0-9_-]/gu, '_');
    const match = gateway.servers
      .listing(server)
      ?.tools.find(({ definition }) => definition.name === name || exposedName(definition.name) === name);
    if (match === undefined) continue;
    const original = match.definition.name;
    const denyPattern = tools.deny.find((glob) => matchesGlob(original, glob));
    const isAllowed = tools.allow.some((glob) => matchesGlob(original, glob));
    if (denyPattern === undefined && isAllowed) continue;
    const key = `mcpServers.${server}.tools`;
    const [reason, fix] =
      denyPattern === undefined
        ? [`No pattern of ${key}.allow matches "${original}".`, `Add "${original}" to ${key}.allow.`]
        : [
            `The pattern "${denyPattern}" of ${key}.deny matches "${original}".`,
            `Change "${denyPattern}" in ${key}.deny.`,
          ];
    return { verdict: 'hidden', kind: 'tool', server, original, reasons: [reason], fixes: [fix], near: [] };
  }
  return undefined;
}

/** Explains a name with the prefix of a server whose tools have not been fetched yet. */
function explainUnlistedServer(
  name: string,
  separator: string,
  servers: readonly AdminServer[],
): Explanation | undefined {
  const server = servers.find(
    (candidate) =>
      candidate.listedAt === undefined && canBelongTo(name, candidate.name as UpstreamName, separator),
  );
  if (server === undefined) return undefined;
  const explanation = explainReachability(server.name, servers);
  return explanation.verdict === 'usable' ? explainUnlisted(server.name) : explanation;
}

/** Explains a name with the prefix of a server that is known not to have it. */
function explainMissingEntry(
  name: string,
  view: CatalogView,
  { servers, separator }: { readonly servers: readonly AdminServer[]; readonly separator: string },
): Explanation | undefined {
  const [server] = servers
    .map((candidate) => candidate.name)
    .filter((candidate) => canBelongTo(name, candidate as UpstreamName, separator))
    // If the name of one server is a prefix of the name of another, the longer name matches better.
    .toSorted((a, b) => b.length - a.length);
  if (server === undefined) return undefined;
  // The names are compared without their common prefix, which would make all of them similar.
  const prefixLength = server.length + separator.length;
  const exposedNames = new Map(
    [...view.tools, ...view.prompts].flatMap((entry) =>
      entry.upstream === server ? [[entry.name.slice(prefixLength), entry.name] as const] : [],
    ),
  );
  const near = findSimilar(name.slice(prefixLength), exposedNames.keys(), 5).flatMap(
    (similar) => exposedNames.get(similar) ?? [],
  );
  const reasons = [`Server "${server}" does not list a tool or prompt "${name.slice(0, 200)}".`];
  const fixes = near.length === 0 ? [`List its tools with: trunkline tools ${quoteShellWord(server)}`] : [];
  return { verdict: 'unknown', reasons, fixes, near };
}

function explainUnknownName(name: string, view: CatalogView, servers: readonly AdminServer[]): Explanation {
  const namesakes = view.tools.filter(({ definition }) => definition.name === name).map((tool) => tool.name);
  const entryNames = [...view.tools, ...view.prompts].map((entry): string => entry.name);
  const serverNames = servers.map((server) => server.name);
  const near =
    namesakes.length > 0 ? namesakes.slice(0, 10) : findSimilar(name, [...entryNames, ...serverNames], 5);
  const reasons = [`There is no server with this name, and no server offers "${name.slice(0, 200)}".`];
  const fixes = near.length === 0 ? ['List all tools with: trunkline tools'] : [];
  return { verdict: 'unknown', reasons, fixes, near };
}
