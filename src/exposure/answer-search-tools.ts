import { dropWeakHits } from '../gateway/drop-weak-hits.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import { findSimilar } from '../core/lib/find-similar.ts';
import type { Payload } from '../core/lib/payload.ts';
import { GatewayError } from '../core/errors.ts';
import { firstSentence, formatSignature } from './format-signature.ts';
import {
  formatSuggestions,
  parseMetaArguments,
  createTextResult,
  invalidArgumentsError,
} from './meta-arguments.ts';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;
const SIMILAR_SERVERS = 3;
const MAX_REMARKS = 3;
/** Number of characters at the start of a query that are searched for names of servers. */
const MAX_NAME_SEARCH = 1_000;

interface SearchAnswer {
  readonly payload: Payload;
  readonly names: readonly string[];
}

/** Answers `search_tools`: one entry per tool, the best first. The same query on the same view returns the same bytes. */
export async function answerSearchTools(args: unknown, view: CatalogView): Promise<SearchAnswer> {
  const { query, limit, server } = parseMetaArguments(args);
  if (typeof query !== 'string') throw invalidArgumentsError('query must be a string');
  if (server !== undefined && typeof server !== 'string')
    throw invalidArgumentsError('server must be the name of a server');
  const servers = view.servers.map(({ name }) => String(name));
  if (server !== undefined && !servers.includes(server)) {
    const similar = findSimilar(server, servers, SIMILAR_SERVERS);
    const message = `There is no server "${server.slice(0, 100)}".${formatSuggestions(similar)}`;
    throw new GatewayError('ARGUMENTS_INVALID', message);
  }
  const hits = await view.search(query, { limit: parseLimit(limit), server });
  const entries = (limit === undefined ? dropWeakHits(hits) : hits).map(({ entry }) => entry);
  const foundNothing = entries.length === 0;
  const remarks = serverRemarks(view, { query, foundNothing, server });
  if (foundNothing) {
    return { payload: createTextResult([describeNoMatch(query, servers), ...remarks].join('\n')), names: [] };
  }
  const lines = entries.map((entry) => {
    const sentence = firstSentence(entry.definition['description'] ?? entry.definition['title']);
    return `${formatSignature(entry)} [${view.tier(entry)}]${sentence === '' ? '' : `\n  ${sentence}`}`;
  });
  return {
    payload: createTextResult([...lines, ...remarks].join('\n')),
    names: entries.map(({ name }) => name),
  };
}

interface SearchSubject {
  readonly query: string;
  readonly server: string | undefined;
  /** Whether the search found no tool. The answer then mentions servers whose tools are still unknown. */
  readonly foundNothing: boolean;
}

/**
 * Returns a line for each unavailable server, at most three, that the query or the `server` argument names. If nothing was found,
 * unavailable servers whose tools are still unknown count as named.
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

function parseLimit(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_LIMIT;
  const limit = typeof value === 'string' ? Number(value) : value;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    throw invalidArgumentsError(`limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return Math.min(limit, MAX_LIMIT);
}

function describeNoMatch(query: string, servers: readonly string[]): string {
  const quotedQuery = query.trim() === '' ? 'an empty query' : `"${query.trim().slice(0, 100)}"`;
  if (servers.length === 0) return `No tool matches ${quotedQuery}: there are no servers.`;
  const similar = findSimilarServers(query, servers).map((name) => `"${name}"`);
  return `No tool matches ${quotedQuery}. Describe what the tool should do in other words. ${similar.length === 1 ? 'The only server is' : 'Some of the servers are'} ${similar.join(', ')}.`;
}

/** Returns up to three servers: first those whose names resemble a word of the query, then others in the order of the configuration. */
function findSimilarServers(query: string, servers: readonly string[]): readonly string[] {
  const words = query.slice(0, 200).split(/\s+/).filter(Boolean);
  const similar = words.flatMap((word) => findSimilar(word, servers, SIMILAR_SERVERS));
  return [...new Set([...similar, ...servers])].slice(0, SIMILAR_SERVERS);
}
