import { cpus, loadavg, release, totalmem } from 'node:os';

import { median, percentile } from './stats.mjs';

/** Each table with its columns; ratios are of the first one and of the floor. */
const SECTIONS = {
  stdio: {
    title: 'stdio: client → subject → stdio server, results of 32 bytes',
    columns: ['direct', 'floor', 'trunkline'],
  },
  http: {
    title: 'HTTP: client → subject → stdio server; direct is the same client on an HTTP server',
    columns: ['direct', 'floor', 'trunkline'],
  },
  start: {
    title: 'Start of the process to the first answered tools/list, over stdio; node is `node -e 0`',
    columns: ['node', 'direct', 'floor', 'trunkline'],
  },
  memory: {
    title: 'Idle with 500 cached tools; node is an empty process',
    columns: ['node', 'floor', 'trunkline'],
  },
};

export function machineLine() {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return (
    `${cpu.model.trim()}, ${cpus().length} cores, ${memory} GB, ${process.platform} ${release()}, ` +
    `Node ${process.version}, load before the run ${loadavg()[0].toFixed(2)}`
  );
}

/** Medians of the rounds, and ratios taken within each round with the range of their middle half. */
export function summarise(row) {
  const { values, goal, hasRatios = true } = row;
  const base = SECTIONS[row.section].columns[0];
  const compare = (others) => {
    if (!hasRatios || others === undefined) return undefined;
    const ratios = values.trunkline.map((value, index) => value / others[index]);
    return { median: median(ratios), from: percentile(ratios, 0.25), to: percentile(ratios, 0.75) };
  };
  const medians = Object.fromEntries(Object.entries(values).map(([name, rounds]) => [name, median(rounds)]));
  const summary = { medians, ofBase: compare(values[base]), ofFloor: compare(values.floor) };
  return { ...row, ...summary, ...(goal && { isReached: isReached(goal, { ...summary, base }) }) };
}

function isReached({ ofBaseAtLeast, ofBaseAtMost, overBaseAtMost, valueAtMost }, { medians, ofBase, base }) {
  if (overBaseAtMost !== undefined) return medians.trunkline - medians[base] <= overBaseAtMost;
  if (ofBaseAtLeast !== undefined) return ofBase.median >= ofBaseAtLeast;
  if (ofBaseAtMost !== undefined) return ofBase.median <= ofBaseAtMost;
  return medians.trunkline <= valueAtMost;
}

/** `rows` as `summarise` gives them, as text. */
export function table(rows) {
  const lines = [];
  for (const [section, { title, columns }] of Object.entries(SECTIONS)) {
    const own = rows.filter((row) => row.section === section);
    if (own.length === 0) continue;
    const head = ['', ...columns, `of ${columns[0]}`, '(half)', 'of floor', '(half)', 'goal', ''];
    lines.push('', title, ...aligned([head, ...own.map((row) => cells(row, columns))]));
  }
  return lines.join('\n');
}

function cells({ title, unit, medians, ofBase, ofFloor, goal, isReached: reached, isDifference }, columns) {
  return [
    `${title}, ${unit}`,
    ...columns.map((name) => figure(medians[name], isDifference ? '+' : '')),
    ratio(ofBase?.median),
    range(ofBase),
    ratio(ofFloor?.median),
    range(ofFloor),
    goal === undefined ? '' : goalText(goal, unit),
    goal === undefined ? '' : reached ? 'reached' : 'MISSED',
  ];
}

function goalText({ ofBaseAtLeast, ofBaseAtMost, overBaseAtMost, valueAtMost }, unit) {
  if (overBaseAtMost !== undefined) return `≤ +${overBaseAtMost} ${unit}`;
  if (ofBaseAtLeast !== undefined) return `≥ ${ofBaseAtLeast.toFixed(2)} ×`;
  return ofBaseAtMost === undefined ? `≤ ${valueAtMost} ${unit}` : `≤ ${ofBaseAtMost.toFixed(2)} ×`;
}

function figure(value, sign) {
  if (value === undefined) return '';
  const prefix = value >= 0 ? sign : '';
  if (value >= 100) return prefix + Math.round(value).toLocaleString('en-US');
  return prefix + value.toFixed(value >= 10 ? 1 : 2);
}

function ratio(value) {
  return value === undefined || !Number.isFinite(value) ? '' : `${value.toFixed(2)} ×`;
}

function range(values) {
  if (values === undefined || values.from === values.to) return '';
  return `${values.from.toFixed(2)}–${values.to.toFixed(2)}`;
}

/** The first column and the two about the goal to the left, figures to the right. */
function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isText = (column) => column === 0 || column >= widths.length - 2;
  return rows.map((row) =>
    row
      .map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd(),
  );
}
