import { mayBelongTo } from '../../catalog/naming.ts';
import { quarantined } from '../../gateway/calls/route.ts';
import type { View } from '../../gateway/view.ts';
import { nearest } from '../../lib/nearest.ts';
import { shellWord } from '../../lib/shell-word.ts';
import type { Caller } from '../../model/caller.ts';
import type { PromptEntry, ToolEntry } from '../../model/entry.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { AdminDeps } from '../deps.ts';
import { knownServer } from './known-server.ts';

interface Wanted {
  readonly name: string;
  /** Then `name` may be the server's own. */
  readonly server: string | undefined;
}

/** What the caller sees once the servers in question were listed; with `isCached` none is started. */
export async function listedView(
  deps: AdminDeps,
  caller: Caller,
  options: { readonly server?: string | undefined; readonly isCached?: boolean } = {},
): Promise<View> {
  const { gateway } = deps;
  const { server, isCached = false } = options;
  const names = server === undefined ? gateway.servers.names() : [knownServer(deps, server)];
  if (!isCached) await gateway.servers.listed(names);
  return gateway.view(caller);
}

export function inServer<E extends { readonly upstream: string }>(
  entries: readonly E[],
  server: string | undefined,
): readonly E[] {
  return server === undefined ? entries : entries.filter(({ upstream }) => upstream === server);
}

/** Lists no more servers than the name can belong to. */
export async function findEntry(
  deps: AdminDeps,
  caller: Caller,
  wanted: Wanted,
): Promise<{ readonly entry: ToolEntry; readonly view: View }> {
  const view = await viewFor(deps, caller, wanted, (known) => pick(known.tools, wanted) !== undefined);
  const entry = pick(view.tools, wanted);
  if (entry === undefined)
    throw (
      heldOf(deps, caller, wanted) ?? troubleOf(deps, wanted) ?? unknown('tool', wanted, deps, view.tools)
    );
  return { entry, view };
}

export async function findPrompt(deps: AdminDeps, caller: Caller, wanted: Wanted): Promise<PromptEntry> {
  const view = await viewFor(deps, caller, wanted, (known) => pick(known.prompts, wanted) !== undefined);
  const entry = pick(view.prompts, wanted);
  if (entry === undefined)
    throw (
      heldOf(deps, caller, wanted) ?? troubleOf(deps, wanted) ?? unknown('prompt', wanted, deps, view.prompts)
    );
  return entry;
}

async function viewFor(
  deps: AdminDeps,
  caller: Caller,
  { name, server }: Wanted,
  isKnown: (view: View) => boolean,
): Promise<View> {
  if (server !== undefined) return listedView(deps, caller, { server });
  const { gateway } = deps;
  const view = gateway.view(caller);
  if (isKnown(view)) return view;
  await gateway.servers.listed(candidates(deps, name));
  return gateway.view(caller);
}

/** Servers that may have an entry of this name. */
function candidates({ gateway, config }: AdminDeps, name: string): readonly UpstreamName[] {
  const { separator } = config().value.names;
  return gateway.servers.names().filter((upstream) => mayBelongTo(name, upstream, separator));
}

/** What the caller might see if it did not wait for a person. */
function heldOf({ gateway }: AdminDeps, caller: Caller, wanted: Wanted): GatewayError | undefined {
  const { tools, prompts } = gateway.sight.all(caller).held;
  const held = [...tools.values(), ...prompts.values()];
  const entry = pick(
    held.map((each) => each.entry),
    wanted,
  );
  const found = held.find((each) => each.entry === entry);
  return found && quarantined(found);
}

/** A name is not unknown while the server that should have it cannot be asked. */
function troubleOf(deps: AdminDeps, { name, server }: Wanted): GatewayError | undefined {
  const { servers } = deps.gateway;
  const names = server === undefined ? candidates(deps, name) : [server as UpstreamName];
  for (const each of names) {
    const problem = servers.listing(each) === undefined ? servers.statusOf(each).problem : undefined;
    if (problem !== undefined)
      return new GatewayError(problem.code, problem.message, { details: { upstream: each } });
  }
  return undefined;
}

function pick<E extends ToolEntry | PromptEntry>(
  entries: readonly E[],
  { name, server }: Wanted,
): E | undefined {
  const own = inServer(entries, server);
  const exposed = own.find((entry) => entry.name === name);
  if (exposed !== undefined || server === undefined) return exposed;
  return own.find(({ definition }) => definition.name === name);
}

function unknown(
  kind: 'tool' | 'prompt',
  { name, server }: Wanted,
  { gateway }: AdminDeps,
  entries: readonly (ToolEntry | PromptEntry)[],
): GatewayError {
  const names = inServer(entries, server).map((entry) =>
    server === undefined ? entry.name : entry.definition.name,
  );
  const near = nearest(name, names, 3);
  const where = server === undefined ? '' : ` of server "${server}"`;
  const isServer = server === undefined && gateway.servers.names().some((each) => each === name);
  const meant = near.length === 0 ? '' : ` Did you mean ${near.map((each) => `"${each}"`).join(', ')}?`;
  const hint = isServer
    ? ` It is a server; what it has is listed by: trunkline ${kind}s ${shellWord(name)}`
    : meant;
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}${where}: ${name.slice(0, 200)}.${hint}`, {
    details: { kind, near },
  });
}
