// First hit and first five of misspelt, vague and non-English requests over the public catalog.
//   node bench/search/hard-requests.mjs [--half odd|even] [--misses]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { missingDataMessage, readPublicCatalog } from '../data/public-data.mjs';
import { bundleSource } from '../lib/bundle-source.mjs';
import { catalogSource } from './search-source.mjs';

const { values: options } = parseArgs({
  options: { half: { type: 'string', default: 'even' }, misses: { type: 'boolean', default: false } },
});
const catalog = readPublicCatalog();
if (catalog === undefined)
  throw new Error(missingDataMessage('catalog', 'Nothing can be measured without it.'));
const { buildIndex } = await bundleSource('src/catalog/search/search-index.ts');
const { readWordVectors } = await bundleSource('src/catalog/search/word-vectors.ts');
const vectorFile = new URL('../../src/catalog/search/data/word-vectors.bin', import.meta.url);
const count = catalog.reduce((sum, { tools }) => sum + tools.length, 0);
const index = buildIndex(catalogSource(count, catalog), {
  vectors: readWordVectors(readFileSync(vectorFile)),
});

const [, body] = readFileSync(new URL('hard-requests.txt', import.meta.url), 'utf8').split('\n---\n');
const lines = body.trim().split('\n');
const results = new Map();
for (const [at, line] of lines.entries()) {
  if ((at % 2 === 0 ? 'odd' : 'even') !== options.half) continue;
  const [language, pattern, request] = line.split(' | ');
  const kind = ['typo', 'vague'].includes(language) ? language : 'other languages';
  const hits = index.search(request, { limit: 5, isAllowed: () => true });
  const rank = hits.findIndex(({ entry }) =>
    new RegExp(pattern).test(`${entry.upstream}/${entry.definition.name}`),
  );
  const result = results.get(kind) ?? { requests: 0, first: 0, firstFive: 0 };
  result.requests += 1;
  if (rank === 0) result.first += 1;
  if (rank >= 0) result.firstFive += 1;
  results.set(kind, result);
  if (options.misses && rank !== 0)
    console.log(rank, language, request, hits.map(({ entry }) => entry.name).join(' '));
}
console.table(Object.fromEntries(results));
