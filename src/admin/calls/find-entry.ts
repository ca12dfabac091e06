import { canBelongTo } from '../../catalog/exposed-names.ts';
import { heldEntryError } from '../../gateway/calls/resolve-operation.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { Caller } from '../../core/caller.ts';
import type { PromptEntry, ToolEntry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { AdminDeps } from '../admin-deps.ts';

/** The characters that people type between the name of a server and the name of its entry. */
const SERVER_SEPARATORS = ['.', '/'] as const;

interface EntryQuery {
  readonly name: string;
  /** If set, `name` may also be the original name of the entry on this server. */
  readonly server: string | undefined;
}

/** Finds a tool. Contacts only the servers to which the name can belong, and none if the tool is already known. */
export async function findToolEntry(
  deps: AdminDeps,
  caller: Caller,
  query: EntryQuery,
): Promise<{ readonly entry: ToolEntry; readonly view: CatalogView }> {
  const view = await viewFor(deps, caller, query, ({ tools }) => selectEntry(tools, query) !== undefined);
  const entry = selectEntry(view.tools, query);
  if (entry === undefined) throw missingEntryError('tool', query, { deps, caller, entries: view.tools });
  return { entry, view };
}

/** Finds a prompt. Contacts only the servers to which the name can belong, and none if the prompt is already known. */
export async function findPromptEntry(
  deps: AdminDeps,
  caller: Caller,
  query: EntryQuery,
): Promise<PromptEntry> {
  const view = await viewFor(deps, caller, query, ({ prompts }) => selectEntry(prompts, query) !== undefined);
  const entry = selectEntry(view.prompts, query);
  if (entry === undefined) throw missingEntryError('prompt', query, { deps, caller, entries: view.prompts });
  return entry;
}

/** Lists the entries of the given server, or of all, and returns the caller's view. With `isCached`, starts no server. */
export async function loadView(
  deps: AdminDeps,
  caller: Caller,
  options: { readonly server?: string | undefined; readonly isCached?: boolean } = {},
): Promise<CatalogView> {
  const { gateway } = deps;
  const { server, isCached = false } = options;
  const names = server === undefined ? gateway.servers.names() : [requireServer(deps, server)];
  if (!isCached) await gateway.servers.ensureListed(names);
  return gateway.view(caller);
}

/** Returns the name if it is that of an enabled server; otherwise throws an error that suggests similar names or how to enable the server. */
export function requireServer({ gateway, config }: AdminDeps, name: string): UpstreamName {
  const names = gateway.servers.names();
  const known = names.find((server) => server === name);
  if (known !== undefined) return known;
  const { disabled } = config();
  if (disabled.some((server) => server === name))
    throw new GatewayError(
      'ENTRY_NOT_FOUND',
      `Server "${name}" is disabled. Enable it with: trunkline enable ${quoteShellWord(name)}`,
      { details: { kind: 'server', near: [] } },
    );
  const near = findSimilar(name, [...names, ...disabled], 3);
  throw new GatewayError(
    'ENTRY_NOT_FOUND',
    `There is no server "${name.slice(0, 200)}".${suggestNames(near)}`,
    { details: { kind: 'server', near } },
  );
}

export function filterByServer<E extends { readonly upstream: string }>(
  entries: readonly E[],
  server: string | undefined,
): readonly E[] {
  return server === undefined ? entries : entries.filter(({ upstream }) => upstream === server);
}

async function viewFor(
  deps: AdminDeps,
  caller: Caller,
  { name, server }: EntryQuery,
  isFound: (view: CatalogView) => boolean,
): Promise<CatalogView> {
  if (server !== undefined) return loadView(deps, caller, { server });
  const { gateway } = deps;
  const view = gateway.view(caller);
  if (isFound(view)) return view;
  const candidates = candidateServers(deps, name);
  // A name that does not begin with a server's name may belong to any server.
  if (candidates.length === 0) await gateway.servers.ensureAllListed();
  else await gateway.servers.ensureListed(candidates);
  return gateway.view(caller);
}

/** Returns the servers to which an entry with this exposed name can belong. */
function candidateServers({ gateway, config }: AdminDeps, name: string): readonly UpstreamName[] {
  const { separator } = config().value.names;
  return gateway.servers
    .names()
    .filter(
      (upstream) =>
        canBelongTo(name, upstream, separator) ||
        SERVER_SEPARATORS.some((character) => name.startsWith(upstream + character)),
    );
}

function selectEntry<E extends ToolEntry | PromptEntry>(
  entries: readonly E[],
  { name, server }: EntryQuery,
): E | undefined {
  const candidates = filterByServer(entries, server);
  const exposed = candidates.find((entry) => entry.name === name);
  if (exposed !== undefined) return exposed;
  if (server === undefined) return findByTypedName(entries, name);
  return candidates.find(({ definition }) => definition.name === name);
}

/** Finds an entry by `server.entry`, `server/entry`, or by its own name if only one server has an entry of this name. */
export function findByTypedName<E extends ToolEntry | PromptEntry>(
  entries: readonly E[],
  name: string,
): E | undefined {
  const qualified = entries.find(({ upstream, definition }) =>
    SERVER_SEPARATORS.some((character) => name === upstream + character + definition.name),
  );
  if (qualified !== undefined) return qualified;
  const namesakes = entries.filter(({ definition }) => definition.name === name);
  return namesakes.length === 1 ? namesakes[0] : undefined;
}

interface SearchContext {
  readonly deps: AdminDeps;
  readonly caller: Caller;
  readonly entries: readonly (ToolEntry | PromptEntry)[];
}

/** Returns the reason why an entry was not found: it is held, the listing of its server cannot be fetched, or the name is unknown. */
function missingEntryError(kind: 'tool' | 'prompt', query: EntryQuery, context: SearchContext): GatewayError {
  const { deps, caller } = context;
  return (
    heldEntryProblem(deps, caller, query) ??
    unlistedServerError(deps, query) ??
    unknownEntryError(kind, query, context)
  );
}

function heldEntryProblem(
  { gateway }: AdminDeps,
  caller: Caller,
  query: EntryQuery,
): GatewayError | undefined {
  const { tools, prompts } = gateway.visibility.visibleTo(caller).held;
  const held = [...tools.values(), ...prompts.values()];
  const entry = selectEntry(
    held.map((item) => item.entry),
    query,
  );
  const match = held.find((item) => item.entry === entry);
  return match && heldEntryError(match);
}

/** Returns the problem of a server that may have this entry but whose tools and prompts could not be fetched. */
function unlistedServerError(deps: AdminDeps, { name, server }: EntryQuery): GatewayError | undefined {
  const { servers } = deps.gateway;
  const names = server === undefined ? candidateServers(deps, name) : [server as UpstreamName];
  for (const upstream of names) {
    const error = servers.unlistedError(upstream);
    if (error !== undefined) return error;
  }
  return undefined;
}

function unknownEntryError(
  kind: 'tool' | 'prompt',
  { name, server }: EntryQuery,
  { deps, entries }: SearchContext,
): GatewayError {
  const names = filterByServer(entries, server).map((entry) =>
    server === undefined ? entry.name : entry.definition.name,
  );
  const namesakes = entries.filter(({ definition }) => definition.name === name);
  const near = namesakes.length > 1 ? namesakes.map((entry) => entry.name) : findSimilar(name, names, 3);
  const where = server === undefined ? '' : ` of server "${server}"`;
  const isServer = server === undefined && deps.gateway.servers.names().some((known) => known === name);
  const hint = isServer
    ? ` "${name}" is the name of a server. List its ${kind}s with: trunkline ${kind}s ${quoteShellWord(name)}`
    : suggestNames(near);
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}${where}: ${name.slice(0, 200)}.${hint}`, {
    details: { kind, near },
  });
}

/** Returns a sentence that suggests similar names, or nothing if there are none. */
export function suggestNames(near: readonly string[]): string {
  return near.length === 0 ? '' : ` Did you mean ${near.map((name) => `"${name}"`).join(', ')}?`;
}
