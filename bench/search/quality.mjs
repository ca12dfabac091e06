import { readSet, sourceOf } from '../retrieval/in-process.mjs';
import { scoreQuery } from '../retrieval/shared/eval.mjs';
import { MEAN_GOALS, METRICS, SETS } from './sets.mjs';

/** Every query of every development set, by the scorer; one result for each set and one for their mean. */
export function measureQuality({ buildIndex, indexOptions }) {
  const results = Object.keys(SETS).map((set) => measureSet(set, { buildIndex, indexOptions }));
  const mean = Object.fromEntries(
    METRICS.map((metric) => [metric, average(results.map((result) => result[metric]))]),
  );
  return [...results, { set: 'mean', ...mean, goals: MEAN_GOALS }];
}

function measureSet(set, { buildIndex, indexOptions }) {
  const { tools, queries } = readSet(set);
  const { source, ids } = sourceOf(tools);
  const index = buildIndex(source, indexOptions);
  const rows = queries.map((query) => {
    const { id, relevant } = query;
    const ranked = index
      .search(query.query, { limit: 10, allow: () => true })
      .map(({ entry }) => ids.get(entry.name));
    return { set, id, query: query.query, relevant, ranked, ...scoreQuery(query, ranked) };
  });
  const scores = Object.fromEntries(
    METRICS.map((metric) => [metric, average(rows.map((row) => row[metric]))]),
  );
  const result = { set, queries: queries.length, ...scores, goals: SETS[set] };
  // For `--per-query`, and not for the results.
  return Object.defineProperty(result, 'rows', { value: rows, enumerable: false });
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
