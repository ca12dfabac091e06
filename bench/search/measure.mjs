import { readFileSync } from 'node:fs';

import { bundleSource, readSet } from '../retrieval/in-process.mjs';
import { catalogSource } from './catalog.mjs';
import { measureProduct } from './product.mjs';
import { measureQuality } from './quality.mjs';
import { SETS } from './sets.mjs';
import { SIZES, measureSpeed } from './speed.mjs';

const QUERIES_OF_A_SET = 60;

/** `parts` of quality, product and speed; only `product` needs children. */
export async function measureSearch({ parts, children, isWithoutVectors = false }) {
  const { buildIndex } = await bundleSource('search/search-index.ts');
  const { wordVectors } = await bundleSource('search/word-vectors.ts');
  const file = new URL('../../src/search/data/word-vectors.bin', import.meta.url);
  const indexOptions = { vectors: isWithoutVectors ? undefined : wordVectors(readFileSync(file)) };
  const queriesOf = (most) =>
    Object.keys(SETS).flatMap((set) =>
      readSet(set)
        .queries.slice(0, most)
        .map(({ query }) => query),
    );
  const report = {};
  if (parts.includes('quality')) report.quality = measureQuality({ buildIndex, indexOptions });
  if (parts.includes('product')) {
    const { estimateTokens } = await bundleSource('exposure/tokens.ts');
    report.product = await measureProduct(children, queriesOf(Infinity), { estimateTokens });
  }
  if (parts.includes('speed')) {
    const queries = queriesOf(QUERIES_OF_A_SET);
    report.speed = SIZES.map(({ tools, goals }) => ({
      ...measureSpeed(catalogSource(tools), queries, { buildIndex, indexOptions }),
      goals,
    }));
  }
  return report;
}
