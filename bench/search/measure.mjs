import { readFileSync } from 'node:fs';

import { generateCatalog } from '../data/catalog.mjs';
import { missingDataMessage, readPublicCatalog, readPublicSet } from '../data/public-data.mjs';
import { readRequests } from '../data/requests.mjs';
import { bundleSource } from '../lib/bundle-source.mjs';
import { measureProduct } from './product.mjs';
import { measureOwnRequests, measurePublicSets } from './quality.mjs';
import { catalogSource } from './search-source.mjs';
import { SETS } from './sets.mjs';
import { SIZES, measureSpeed } from './speed.mjs';

/**
 * `parts` of quality, product and speed; only `product` needs children. Everything is measured with the generated catalog and our own
 * requests; quality and product also with the public data where it is at hand, and `notes` says what was left out.
 */
export async function measureSearch({ parts, children, isWithoutVectors = false }) {
  const { buildIndex } = await bundleSource('src/catalog/search/search-index.ts');
  const { readWordVectors } = await bundleSource('src/catalog/search/word-vectors.ts');
  const file = new URL('../../src/catalog/search/data/word-vectors.bin', import.meta.url);
  const indexOptions = { vectors: isWithoutVectors ? undefined : readWordVectors(readFileSync(file)) };
  const catalog = generateCatalog();
  const requests = readRequests(catalog);
  const report = { notes: [] };
  if (parts.includes('quality')) {
    const own = measureOwnRequests({ catalog, requests, buildIndex, indexOptions });
    const publicSets = measurePublicSets({ buildIndex, indexOptions });
    report.quality = [...own, ...publicSets];
    const missing = Object.keys(SETS).filter((name) => publicSets.every(({ set }) => set !== name));
    if (missing.length > 0)
      report.notes.push(
        missingDataMessage(
          `retrieval (${missing.join(', ')})`,
          'These public sets are left out of the quality.',
        ),
      );
  }
  if (parts.includes('product'))
    Object.assign(report, await measureProducts({ children, catalog, requests, notes: report.notes }));
  if (parts.includes('speed')) {
    const queries = Object.values(requests)
      .flat()
      .map(({ query }) => query);
    report.speed = SIZES.map(({ tools, goals }) => ({
      ...measureSpeed(catalogSource(tools, catalog), queries, { buildIndex, indexOptions }),
      goals,
    }));
  }
  return report;
}

async function measureProducts({ children, catalog, requests, notes }) {
  const { estimateTokens } = await bundleSource('src/exposure/estimate-tokens.ts');
  const queries = Object.values(requests)
    .flat()
    .map(({ query }) => query);
  const product = await measureProduct(children, { catalog, queries, estimateTokens });
  const publicCatalog = readPublicCatalog();
  const publicQueries = Object.keys(SETS).flatMap((name) =>
    (readPublicSet(name)?.queries ?? []).map(({ query }) => query),
  );
  if (publicCatalog === undefined || publicQueries.length === 0) {
    notes.push(
      missingDataMessage(
        'catalog or retrieval',
        'The gateway is not measured with public tools and queries.',
      ),
    );
    return { product };
  }
  const publicProduct = await measureProduct(children, {
    catalog: publicCatalog,
    queries: publicQueries,
    estimateTokens,
    isPublic: true,
  });
  return { product, publicProduct };
}
