import { cpus, loadavg, release, totalmem } from 'node:os';

import { aligned, figure } from './columns.mjs';
import { median, percentile } from './stats.mjs';

/** The tables with their columns; ratios are relative to the first column and to the floor. */
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
};

export function machineLine() {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return (
    `${cpu.model.trim()}, ${cpus().length} cores, ${memory} GB, ${process.platform} ${release()}, ` +
    `Node ${process.version}, load before the run ${loadavg()[0].toFixed(2)}`
  );
}

/** Medians of the rounds, and ratios within each round with the range of the middle half. */
export function summarise(row) {
  const { values, hasRatios = true } = row;
  const base = SECTIONS[row.section].columns[0];
  const compare = (others) => {
    if (!hasRatios || others === undefined) return undefined;
    const ratios = values.trunkline.map((value, index) => value / others[index]);
    return { median: median(ratios), from: percentile(ratios, 0.25), to: percentile(ratios, 0.75) };
  };
  const medians = Object.fromEntries(Object.entries(values).map(([name, rounds]) => [name, median(rounds)]));
  return { ...row, medians, ofBase: compare(values[base]), ofFloor: compare(values.floor) };
}

/** Formats the rows of `summarise` as text. */
export function table(rows) {
  const lines = [];
  for (const [section, { title, columns }] of Object.entries(SECTIONS)) {
    const own = rows.filter((row) => row.section === section);
    if (own.length === 0) continue;
    const head = ['', ...columns, `of ${columns[0]}`, '(half)', 'of floor', '(half)'];
    lines.push('', title, ...aligned([head, ...own.map((row) => cells(row, columns))]));
  }
  return lines.join('\n');
}

function cells({ title, unit, medians, ofBase, ofFloor, isDifference }, columns) {
  return [
    `${title}, ${unit}`,
    ...columns.map((name) => signed(medians[name], isDifference ? '+' : '')),
    ratio(ofBase?.median),
    range(ofBase),
    ratio(ofFloor?.median),
    range(ofFloor),
  ];
}

function signed(value, sign) {
  return value === undefined ? '' : (value >= 0 ? sign : '') + figure(value);
}

function ratio(value) {
  return value === undefined || !Number.isFinite(value) ? '' : `${value.toFixed(2)} ×`;
}

function range(values) {
  if (values === undefined || values.from === values.to) return '';
  return `${values.from.toFixed(2)}–${values.to.toFixed(2)}`;
}
