// The functions that every message, start or search goes through, each ready to be run again and again.

import { readFileSync } from 'node:fs';

import { fingerprintOf } from '../../src/catalog/fingerprint.ts';
import { readListing } from '../../src/catalog/listing.ts';
import { merge } from '../../src/catalog/snapshot.ts';
import { validateConfig } from '../../src/config/validate.ts';
import { Cancellation } from '../../src/lib/cancellation.ts';
import { Deadlines } from '../../src/lib/deadlines.ts';
import { Payload } from '../../src/lib/payload.ts';
import type { Fingerprint, UpstreamName } from '../../src/model/ids.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { Call } from '../../src/policy/call.ts';
import { chain } from '../../src/policy/chain.ts';
import { createPolicy } from '../../src/policy/decide.ts';
import { defaultChain } from '../../src/policy/default-chain.ts';
import { runToEnd } from '../../src/policy/run-to-end.ts';
import { buildIndex } from '../../src/search/search-index.ts';
import { wordVectors } from '../../src/search/word-vectors.ts';
import { LineReader } from '../../src/wire/stdio/frame-lines.ts';
import { parseMessage, requestText, resultText } from '../../src/wire/message.ts';

export interface HotFunction {
  readonly name: string;
  /** How many of the thing that the name says one run does. */
  readonly count: number;
  readonly run: () => unknown;
}

interface CatalogServer {
  readonly name: string;
  readonly tools: readonly JsonObject[];
}

const LINES = 100;
const MAX_BYTES = 1e9;

/** `vectorsFile` holds the word vectors of the search. */
export function hotFunctions(catalog: readonly CatalogServer[], vectorsFile: string): readonly HotFunction[] {
  return [...wireFunctions(), ...catalogFunctions(catalog, vectorsFile), guardChain()];
}

function wireFunctions(): readonly HotFunction[] {
  const request = requestText(7, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(32) } });
  const small = resultText(7, Payload.of({ content: [{ type: 'text', text: 'x'.repeat(32) }] }));
  const large = Buffer.from(
    resultText(7, Payload.of({ content: [{ type: 'text', text: 'x'.repeat(1024 * 1024) }] })),
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
      run: () => requestText(7, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(32) } }),
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
    readListing(
      { facts, tools, prompts: [], resources: [], templates: [] },
      { upstream: name as UpstreamName, config: 'bench' as Fingerprint, at: 0 },
    ).listing;
  const listings = catalog.map(read);
  const count = listings.reduce((sum, { tools }) => sum + tools.length, 0);
  const options = { separator: '__', allows: () => true };
  const snapshot = merge(listings, options);
  const index = buildIndex(snapshot, { vectors: wordVectors(readFileSync(vectorsFile)) });
  const [server] = catalog;
  const [tool] = server?.tools ?? [];
  const everything = { limit: 5, allow: () => true };
  return [
    { name: 'fingerprint of a definition', count: 1, run: () => fingerprintOf(tool) },
    { name: 'read a listing, a tool', count, run: () => catalog.map(read) },
    { name: `merge ${count.toLocaleString('en-US')} tools`, count: 1, run: () => merge(listings, options) },
    {
      name: `search ${count.toLocaleString('en-US')} tools`,
      count: 1,
      run: () => index.search('create an issue in a repository', everything),
    },
  ];
}

/** As the default configuration has them, with a watch that forgets. */
function guardChain(): HotFunction {
  const text = '{"mcpServers":{"bench":{"command":"bench"}}}';
  const { value: config } = validateConfig({ file: 'bench', text, revision: 'bench' as Fingerprint });
  const upstream = config.upstreams[0];
  const policy = createPolicy({ ...config, tierOf: () => 'write', tagsOf: () => [] });
  const deadlines = new Deadlines({ tickMs: 1000, now: () => performance.now() });
  const guards = defaultChain({
    ...config,
    deadlines,
    upstream: () => upstream,
    watch: { ended: () => {} },
    facts: { tierOf: () => 'write', ruleOf: () => 'default' },
    permission: { policyFor: (caller) => policy.for(caller), ask: () => Promise.resolve() },
    log: silentLogger,
    now: Date.now,
  });
  const payload = Payload.of({ content: [] });
  const run = chain(guards, () => Promise.resolve(payload));
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
    ends: [],
  };
  return { name: `the ${guards.length} guards around a call`, count: 1, run: () => runToEnd(run, call) };
}
