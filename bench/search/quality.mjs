import { readPublicSet } from '../data/public-data.mjs';
import { scoreQuery } from './score.mjs';
import { catalogSource, publicSetSource } from './search-source.mjs';
import { MEAN_GOALS, METRICS, SETS, SETS_OUTSIDE_MEAN } from './sets.mjs';

/** Our own requests over the generated catalog: what every clone can measure. */
export function measureOwnRequests({ catalog, requests, buildIndex, indexOptions }) {
  const count = catalog.reduce((sum, { tools }) => sum + tools.length, 0);
  const source = catalogSource(count, catalog);
  const idOf = ({ upstream, definition }) => `${upstream}/${definition.name}`;
  const ids = new Map([...source.tools].map(([name, tool]) => [name, idOf(tool)]));
  return Object.entries(requests).map(([name, queries]) =>
    measureSet(`own, by ${name}`, { source, ids, queries, buildIndex, indexOptions }),
  );
}

/** Every query of every public set that is at hand, and their mean if all of them are. */
export function measurePublicSets({ buildIndex, indexOptions }) {
  const results = Object.keys(SETS).flatMap((name) => {
    const set = readPublicSet(name);
    if (set === undefined) return [];
    const { source, ids } = publicSetSource(set.tools);
    return [
      measureSet(name, { source, ids, queries: set.queries, buildIndex, indexOptions, goals: SETS[name] }),
    ];
  });
  if (results.length < Object.keys(SETS).length) return results;
  const inMean = results.filter(({ set }) => !SETS_OUTSIDE_MEAN.includes(set));
  const mean = Object.fromEntries(
    METRICS.map((metric) => [metric, average(inMean.map((result) => result[metric]))]),
  );
  return [...results, { set: `mean without ${SETS_OUTSIDE_MEAN.join(', ')}`, ...mean, goals: MEAN_GOALS }];
}

function measureSet(set, { source, ids, queries, buildIndex, indexOptions, goals }) {
  const index = buildIndex(source, indexOptions);
  const rows = queries.map((query) => {
    const { id, relevant } = query;
    const ranked = index
      .search(query.query, { limit: 10, isAllowed: () => true })
      .map(({ entry }) => ids.get(entry.name));
    return { set, id, query: query.query, relevant, ranked, ...scoreQuery(query, ranked) };
  });
  const scores = Object.fromEntries(
    METRICS.map((metric) => [metric, average(rows.map((row) => row[metric]))]),
  );
  const result = { set, queries: queries.length, ...scores, goals };
  // `--per-query` writes the rows; the results file does not contain them.
  return Object.defineProperty(result, 'rows', { value: rows, enumerable: false });
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
