import { METRICS } from './sets.mjs';

/** Formats the figures of the search as tables, with goals and whether they are reached. */
export function searchTables({ quality, speed, product, publicProduct, notes = [] }) {
  return [
    ...(quality ? qualityTable(quality) : []),
    ...(product ? productTable(product, 'generated') : []),
    ...(publicProduct ? productTable(publicProduct, 'public') : []),
    ...(speed ? speedTable(speed) : []),
    ...notes.map((note) => `\nLeft out: ${note}`),
  ].join('\n');
}

function qualityTable(quality) {
  const cell = (value, goal) =>
    goal === undefined
      ? value.toFixed(3)
      : `${value.toFixed(3)} (${goal.toFixed(2)}${value < goal ? ' MISSED' : ''})`;
  return titled(
    'Search quality, in this process: our own requests over the generated catalog, then our halves of public sets (goal for the other halves)',
    [
      ['set', 'queries', ...METRICS],
      ...quality.map(({ set, queries, goals, ...scores }) => [
        set,
        queries === undefined ? '' : String(queries),
        ...METRICS.map((metric) => cell(scores[metric], goals?.[metric])),
      ]),
    ],
  );
}

function productTable(product, origin) {
  const { lists, answerMedian, answerWorst, estimate, queries, tools, servers } = product;
  const percent = (share) => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(0)} %`;
  const goal = (value, most, unit) => `≤ ${most} ${unit}${value > most ? ' MISSED' : ''}`;
  const list = (name, most) =>
    lists[name] === undefined
      ? []
      : [[`tools/list, ${name}, tokens`, figure(lists[name]), most ? goal(lists[name], most, '') : '']];
  return titled(
    `Search: the built gateway over stdio, ${tools.toLocaleString('en-US')} ${origin} tools of ${servers} servers, ${queries} requests; tokens are o200k`,
    [
      ['', '', 'goal'],
      ...list('direct'),
      ...list('search', 500),
      ...list('code', 500),
      ['search_tools answer, median, tokens', figure(answerMedian), goal(answerMedian, 450, '')],
      ['search_tools answer, worst, tokens', figure(answerWorst), goal(answerWorst, 1500, '')],
      [
        'our estimate of these tokens, median (5 % to 95 %)',
        `${percent(estimate.median)} (${percent(estimate.from)} to ${percent(estimate.to)})`,
        '',
      ],
      ['search_tools right after the start, ms', figure(product.immediateMs), ''],
      ['from tools/list to an index made in the background, ms', figure(product.preparedMs), ''],
      ['first search_tools after that, ms', figure(product.firstMs), ''],
      ['search_tools, p50, ms', figure(product.p50Ms), ''],
      ['search_tools, p99, ms', figure(product.p99Ms), ''],
      ...(product.rssMb === undefined
        ? []
        : [
            [
              'RSS with the index, before and after these searches, MB',
              `${figure(product.rssMb)}, ${figure(product.rssAfterMb)}`,
              '',
            ],
          ]),
    ],
  );
}

function speedTable(speed) {
  const beside = (value, goal, digits) =>
    value.toFixed(digits) + (goal === undefined ? '' : ` (${goal}${value > goal ? ' MISSED' : ''})`);
  return titled(
    'Search speed, in this process: the generated catalog and copies of it, each search counted as it came (goal)',
    [
      [
        'tools',
        'build ms',
        'CPU',
        'again',
        'one changed',
        'first query',
        'p50 ms',
        'p99 ms',
        'p99 CPU',
        'memory MB',
      ],
      ...speed.map(({ goals, ...one }) => [
        one.tools.toLocaleString('en-US'),
        beside(one.buildMs, goals.buildMs, 0),
        beside(one.buildCpuMs, undefined, 0),
        beside(one.againMs, undefined, 0),
        beside(one.changeMs, undefined, 0),
        beside(one.firstMs, undefined, 1),
        beside(one.p50Ms, undefined, 2),
        beside(one.p99Ms, goals.p99Ms, 2),
        beside(one.p99CpuMs, undefined, 2),
        beside(one.memoryMb, undefined, 1),
      ]),
    ],
  );
}

function titled(title, rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd(),
  );
  return ['', title, ...lines];
}

function figure(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2);
}
