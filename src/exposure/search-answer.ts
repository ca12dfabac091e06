import { strongHits } from '../gateway/strong-hits.ts';
import type { View } from '../gateway/view.ts';
import { nearest } from '../lib/nearest.ts';
import type { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import { firstSentence, signature } from './signature.ts';
import { serverRemarks } from './server-remarks.ts';
import { didYouMean, metaArguments, textResult, wrong } from './meta-arguments.ts';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;
const NEAR_SERVERS = 3;

interface SearchAnswer {
  readonly payload: Payload;
  readonly names: readonly string[];
}

/** `search_tools`: one entry per tool, the best first; the same question of the same view gets the same bytes. */
export async function searchAnswer(given: unknown, view: View): Promise<SearchAnswer> {
  const { query, limit, server } = metaArguments(given);
  if (typeof query !== 'string') throw wrong('query must be a string');
  if (server !== undefined && typeof server !== 'string') throw wrong('server must be the name of a server');
  const servers = view.servers.map(({ name }) => String(name));
  if (server !== undefined && !servers.includes(server)) {
    const near = nearest(server, servers, NEAR_SERVERS);
    const message = `There is no server "${server.slice(0, 100)}".${didYouMean(near)}`;
    throw new GatewayError('ARGUMENTS_INVALID', message);
  }
  const hits = await view.search(query, {
    limit: limitOf(limit),
    ...(server !== undefined && { server }),
  });
  const entries = (limit === undefined ? strongHits(hits) : hits).map(({ entry }) => entry);
  const foundNothing = entries.length === 0;
  const remarks = serverRemarks(view, { query, foundNothing, ...(server !== undefined && { server }) });
  if (foundNothing) {
    return { payload: textResult([nothing(query, servers), ...remarks].join('\n')), names: [] };
  }
  const lines = entries.map((entry) => {
    const sentence = firstSentence(entry.definition['description'] ?? entry.definition['title']);
    return `${signature(entry)} [${view.tier(entry)}]${sentence === '' ? '' : `\n  ${sentence}`}`;
  });
  return { payload: textResult([...lines, ...remarks].join('\n')), names: entries.map(({ name }) => name) };
}

function limitOf(given: unknown): number {
  if (given === undefined || given === null) return DEFAULT_LIMIT;
  const limit = typeof given === 'string' ? Number(given) : given;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1) {
    throw wrong(`limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return Math.min(limit, MAX_LIMIT);
}

function nothing(query: string, servers: readonly string[]): string {
  const shown = query.trim() === '' ? 'an empty query' : `"${query.trim().slice(0, 100)}"`;
  if (servers.length === 0) return `No tool matches ${shown}: there are no servers.`;
  const near = nearServers(query, servers).map((name) => `"${name}"`);
  return `No tool matches ${shown}. Say in other words what it should do; ${near.length === 1 ? 'the only server is' : 'the nearest servers are'} ${near.join(', ')}.`;
}

/** Those that a word of the query may mean, then the others in their order. */
function nearServers(query: string, servers: readonly string[]): readonly string[] {
  const words = query.slice(0, 200).split(/\s+/).filter(Boolean);
  const meant = words.flatMap((word) => nearest(word, servers, NEAR_SERVERS));
  return [...new Set([...meant, ...servers])].slice(0, NEAR_SERVERS);
}
