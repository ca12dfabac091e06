// The functions that every message, start or search runs through, ready to be run repeatedly.

import { readFileSync } from 'node:fs';

import { fingerprintOf } from '../../src/catalog/fingerprint.ts';
import { readListing } from '../../src/catalog/listing.ts';
import { completeAtOnce } from '../../src/core/lib/complete-in-slices.ts';
import { mergeListings } from '../../src/catalog/snapshot.ts';
import { validateConfig } from '../../src/config/validate-config.ts';
import { Cancellation } from '../../src/core/lib/cancellation.ts';
import { Deadlines } from '../../src/core/lib/deadlines.ts';
import { Payload } from '../../src/core/lib/payload.ts';
import type { Fingerprint, UpstreamName } from '../../src/core/ids.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { silentLogger } from '../../src/observability/log.ts';
import type { Call } from '../../src/policy/guard.ts';
import { createPolicy } from '../../src/policy/caller-policy.ts';
import { composeGuards, defaultGuards, runGuarded } from '../../src/policy/guard-chain.ts';
import { buildIndex } from '../../src/catalog/search/search-index.ts';
import { readWordVectors } from '../../src/catalog/search/word-vectors.ts';
import { LineReader } from '../../src/protocol/stdio/line-reader.ts';
import { parseMessage, serializeRequest, serializeResult } from '../../src/protocol/rpc-message.ts';

export interface HotFunction {
  readonly name: string;
  /** The number of units, as `name` counts them, that one run processes. */
  readonly count: number;
  readonly run: () => unknown;
}

interface CatalogServer {
  readonly name: string;
  readonly tools: readonly JsonObject[];
}

const LINES = 100;
const MAX_BYTES = 1e9;

/** `vectorsFile` contains the word vectors of the search. */
export function hotFunctions(catalog: readonly CatalogServer[], vectorsFile: string): readonly HotFunction[] {
  return [...wireFunctions(), ...catalogFunctions(catalog, vectorsFile), guardChain()];
}

function wireFunctions(): readonly HotFunction[] {
  const request = serializeRequest(7, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(32) } });
  const small = serializeResult(7, Payload.of({ content: [{ type: 'text', text: 'x'.repeat(32) }] }));
  const large = Buffer.from(
    serializeResult(7, Payload.of({ content: [{ type: 'text', text: 'x'.repeat(1024 * 1024) }] })),
  );
  const lines = Buffer.from(`${small}\n`.repeat(LINES));
  const reader = new LineReader({ maxBytes: MAX_BYTES, onLine: () => {}, onTooLong: () => {} });
  return [
    { name: 'cut a chunk into lines, a line', count: LINES, run: () => reader.push(lines) },
    { name: 'read a request', count: 1, run: () => parseMessage(request) },
    { name: 'read an answer of 32 bytes', count: 1, run: () => parseMessage(small) },
    { name: 'read an answer of 1 MB', count: 1, run: () => parseMessage(large) },
    {
      name: 'write a request',
      count: 1,
      run: () => serializeRequest(7, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(32) } }),
    },
  ];
}

function catalogFunctions(catalog: readonly CatalogServer[], vectorsFile: string): readonly HotFunction[] {
  const facts = {
    era: 'legacy',
    protocol: '2025-06-18',
    info: { name: 'bench', version: '1' },
    capabilities: {},
  } as const;
  const read = ({ name, tools }: CatalogServer) =>
    completeAtOnce(
      readListing(
        { facts, tools, prompts: [], resources: [], templates: [] },
        { upstream: name as UpstreamName, config: 'bench' as Fingerprint, at: 0 },
      ),
    ).listing;
  const listings = catalog.map(read);
  const count = listings.reduce((sum, { tools }) => sum + tools.length, 0);
  const options = { separator: '__', allows: () => true };
  const snapshot = mergeListings(listings, options);
  const index = buildIndex(snapshot, { vectors: readWordVectors(readFileSync(vectorsFile)) });
  const [server] = catalog;
  const [tool] = server?.tools ?? [];
  const everything = { limit: 5, isAllowed: () => true };
  return [
    { name: 'fingerprint of a definition', count: 1, run: () => fingerprintOf(tool) },
    { name: 'read a listing, a tool', count, run: () => catalog.map(read) },
    {
      name: `merge ${count.toLocaleString('en-US')} tools`,
      count: 1,
      run: () => mergeListings(listings, options),
    },
    {
      name: `search ${count.toLocaleString('en-US')} tools`,
      count: 1,
      run: () => index.search('create an issue in a repository', everything),
    },
  ];
}

/** The guards of the default configuration, with an audit that discards everything. */
function guardChain(): HotFunction {
  const text = '{"mcpServers":{"bench":{"command":"bench"}}}';
  const { value: config } = validateConfig({ file: 'bench', text, revision: 'bench' as Fingerprint });
  const upstream = config.upstreams[0];
  const policy = createPolicy({ ...config, tierOf: () => 'write', tagsOf: () => [] });
  const deadlines = new Deadlines({ tickMs: 1000, now: () => performance.now() });
  const guards = defaultGuards({
    ...config,
    deadlines,
    upstream: () => upstream,
    callObserver: { onCallEnd: () => {} },
    facts: { tierOf: () => 'write', ruleOf: () => 'default' },
    permission: { policyFor: (caller) => policy.for(caller), approve: () => Promise.resolve() },
    log: silentLogger,
    now: Date.now,
  });
  const payload = Payload.of({ content: [] });
  const run = composeGuards(guards, () => Promise.resolve(payload));
  const call: Call = {
    caller: { id: 'local', via: 'stdio', profile: 'default' },
    session: 'session',
    operation: {
      kind: 'tool',
      upstream: 'bench' as UpstreamName,
      method: 'tools/call',
      params: { name: 'echo' },
    },
    cancellation: new Cancellation(),
    timeoutMs: 60_000,
    endListeners: [],
  };
  return { name: `the ${guards.length} guards around a call`, count: 1, run: () => runGuarded(run, call) };
}
