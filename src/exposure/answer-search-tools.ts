import { areAllWeak, dropWeakHits } from '../gateway/drop-weak-hits.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import { findSimilar } from '../core/lib/find-similar.ts';
import type { Payload } from '../core/lib/payload.ts';
import { GatewayError } from '../core/errors.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { JsonObject } from '../core/json.ts';
import { firstSentence, formatSignature, oneLine, SIGNATURE_CHARS } from './format-signature.ts';
import {
  formatSuggestions,
  parseMetaArguments,
  createTextResult,
  invalidArgumentsError,
  refuseUnknownParameters,
} from './meta-arguments.ts';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;
const MAX_QUERIES = 5;
/** The number of hits per query if a call has several queries. */
const LIMIT_OF_SEVERAL = 3;
/** The number of tools that are listed for a server. */
const LISTED_TOOLS = 30;
/** The number of hits whose parameters are shown in full. */
const FULL_SIGNATURES = 2;
const SIMILAR_SERVERS = 3;
const MAX_REMARKS = 3;
/** Number of characters at the start of a query that are searched for names of servers. */
const MAX_NAME_SEARCH = 1_000;

/**
 * Answers `search_tools`. A query returns one entry per tool, the best match first; several queries return one list each; a server without a
 * query returns the tools of that server. The same arguments on the same view return the same bytes. If nothing matches, and listings
 * arrived during the search, the search is repeated in the latest view.
 */
export async function answerSearchTools(
  rawArguments: unknown,
  view: CatalogView,
  latestView: () => Promise<CatalogView>,
): Promise<Payload> {
  const args = parseMetaArguments(rawArguments);
  refuseUnknownParameters(args, 'search_tools', ['query', 'queries', 'server', 'limit']);
  const queries = parseQueries(args);
  const server = parseServer(args['server'], view);
  const limit = parseLimit(args['limit']);
  if (queries.length === 0) {
    if (server === undefined)
      throw invalidArgumentsError('query must be a string that says what a tool should do');
    return createTextResult(listServer(server, limit ?? LISTED_TOOLS, view));
  }
  const [query = ''] = queries;
  if (queries.length === 1)
    return createTextResult((await answerQuery(query, { server, limit, view, latestView })).join('\n'));
  const shown = new Set<ToolEntry>();
  const sections: string[] = [];
  for (const each of queries) {
    const options = { server, limit, view, latestView, shown, fallbackLimit: LIMIT_OF_SEVERAL };
    const lines = await answerQuery(each, options);
    sections.push([`# ${oneLine(each).slice(0, 100)}`, ...lines].join('\n'));
  }
  return createTextResult(sections.join('\n'));
}

interface QueryOptions {
  readonly server: string | undefined;
  readonly limit: number | undefined;
  readonly view: CatalogView;
  readonly latestView: () => Promise<CatalogView>;
  readonly fallbackLimit?: number;
  /** The tools that an earlier query of the same call has shown. */
  readonly shown?: Set<ToolEntry>;
}

async function answerQuery(query: string, options: QueryOptions): Promise<readonly string[]> {
  const { server, limit, view, latestView, fallbackLimit = DEFAULT_LIMIT, shown = new Set() } = options;
  const hits = await view.search(query, { limit: limit ?? fallbackLimit, server });
  const entries = (limit === undefined ? dropWeakHits(hits) : hits).map(({ entry }) => entry);
  const foundNothing = entries.length === 0;
  if (foundNothing) {
    const latest = await latestView();
    // Otherwise the answer would say that no tool matches although a server has sent its tools meanwhile.
    if (latest.digests.tools !== view.digests.tools)
      return answerQuery(query, { ...options, view: latest, latestView: () => Promise.resolve(latest) });
  }
  const remarks = serverRemarks(view, { query, foundNothing, server });
  const servers = view.servers.map(({ name }) => String(name));
  if (foundNothing) return [describeNoMatch(query, { servers, server }), ...remarks];
  const lines = entries.map((entry, at) => {
    if (shown.has(entry)) return `${entry.name} (see above)`;
    shown.add(entry);
    const sentence = firstSentence(entry.definition['description'] ?? entry.definition['title']);
    const signature = formatSignature(
      entry,
      at < FULL_SIGNATURES ? SIGNATURE_CHARS.full : SIGNATURE_CHARS.short,
    );
    return `${signature} [${view.tier(entry)}]${sentence === '' ? '' : `\n  ${sentence}`}`;
  });
  const weak = areAllWeak(hits)
    ? [`No tool${server === undefined ? '' : ` of "${server}"`} clearly does this; the nearest are:`]
    : [];
  return [...weak, ...lines, ...remarks];
}

/** Lists the tools of a server in its own order, one line each. */
function listServer(server: string, limit: number, view: CatalogView): string {
  const tools = view.tools.filter(({ upstream }) => upstream === server);
  const lines = tools
    .slice(0, limit)
    .map((entry) => `${formatSignature(entry, SIGNATURE_CHARS.short)} [${view.tier(entry)}]`);
  const rest = tools.length - lines.length;
  const more =
    rest > 0
      ? [`${rest} more tools of ${server} are not shown: add a query, or a limit of up to ${MAX_LIMIT}.`]
      : [];
  const none = tools.length === 0 ? [`No tools of server "${server}" are known.`] : [];
  return [
    ...lines,
    ...more,
    ...none,
    ...serverRemarks(view, { query: '', foundNothing: false, server }),
  ].join('\n');
}

function parseQueries({ query, queries }: JsonObject): readonly string[] {
  const list: readonly unknown[] = Array.isArray(queries) ? queries : queries === undefined ? [] : [queries];
  const all = [...(query === undefined || query === null ? [] : [query]), ...list];
  if (!all.every((each) => typeof each === 'string')) throw invalidArgumentsError('query must be a string');
  if (all.length > MAX_QUERIES)
    throw invalidArgumentsError(`queries must have at most ${MAX_QUERIES} elements`);
  return all;
}

/** Finds a server by its name. Case and separators are ignored if that is unambiguous: `GitHub` finds `github`. */
function parseServer(server: unknown, view: CatalogView): string | undefined {
  if (server === undefined || server === null || server === '') return undefined;
  if (typeof server !== 'string') throw invalidArgumentsError('server must be the name of a server');
  const servers = view.servers.map(({ name }) => String(name));
  if (servers.includes(server)) return server;
  const meant = servers.filter((name) => fold(name) === fold(server));
  if (meant.length === 1) return meant[0];
  const similar = findSimilar(server, servers, SIMILAR_SERVERS);
  const message = `There is no server "${server.slice(0, 100)}".${formatSuggestions(similar)}`;
  throw new GatewayError('ARGUMENTS_INVALID', message);
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, '');
}

interface SearchSubject {
  readonly query: string;
  readonly server: string | undefined;
  /** Whether the search found no tool. The answer then mentions servers whose tools are still unknown. */
  readonly foundNothing: boolean;
}

/**
 * Returns a line for each unavailable server that the query or the `server` argument names, at most three lines. If nothing was found,
 * unavailable servers whose tools are still unknown are included as well.
 */
function serverRemarks(view: CatalogView, { query, server, foundNothing }: SearchSubject): readonly string[] {
  const words = new Set(wordsOf(query.slice(0, MAX_NAME_SEARCH)));
  const isNamed = (name: string): boolean =>
    server === undefined ? wordsOf(name).every((word) => words.has(word)) : name === server;
  return view.servers
    .filter(
      ({ name, facts }) => isNamed(name) || (foundNothing && server === undefined && facts === undefined),
    )
    .flatMap(({ name }) => {
      const reason = view.unavailableReason(name);
      return reason === undefined ? [] : [`Server "${name}" ${reason}.`];
    })
    .slice(0, MAX_REMARKS);
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
}

function parseLimit(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const limit = typeof value === 'string' ? Number(value) : value;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    throw invalidArgumentsError(`limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return Math.min(limit, MAX_LIMIT);
}

function describeNoMatch(
  query: string,
  { servers, server }: { readonly servers: readonly string[]; readonly server: string | undefined },
): string {
  const quotedQuery = query.trim() === '' ? 'an empty query' : `"${query.trim().slice(0, 100)}"`;
  if (servers.length === 0) return `No tool matches ${quotedQuery}: there are no servers.`;
  // A client that asked for one server gets no suggestions of other servers.
  if (server !== undefined) return `No known tool of "${server}" matches ${quotedQuery}.`;
  const similar = findSimilarServers(query, servers).map((name) => `"${name}"`);
  return `No tool matches ${quotedQuery}. Describe what the tool should do in other words. ${similar.length === 1 ? 'The only server is' : 'Some of the servers are'} ${similar.join(', ')}.`;
}

/** Returns up to three servers: first those whose names resemble a word of the query, then others in the order of the configuration. */
function findSimilarServers(query: string, servers: readonly string[]): readonly string[] {
  const words = query.slice(0, 200).split(/\s+/).filter(Boolean);
  const similar = words.flatMap((word) => findSimilar(word, servers, SIMILAR_SERVERS));
  return [...new Set([...similar, ...servers])].slice(0, SIMILAR_SERVERS);
}
