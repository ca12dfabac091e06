// The results of a run so far. They are written to a file after every scenario, so a run that ends early keeps its results.

import { readFileSync, writeFileSync } from 'node:fs';

import { columnsTable } from './columns.mjs';
import { GOAL_COLUMNS, judgeGoals } from './goals.mjs';
import { summarise, table } from './report.mjs';

/** `other` holds the parts with their own kind of figures and tables, by name. */
export function newResults(about) {
  return { ...about, seconds: 0, failures: [], rows: [], tables: [], facts: {}, other: {} };
}

/** Adds the results of a scenario. */
export function addResults(results, { rows = [], tables = [], facts = {} }) {
  results.rows.push(...rows.map(summarise));
  results.tables.push(...tables);
  Object.assign(results.facts, facts);
}

/** All tables and the goals that were measured, as text. */
export function resultsText(results) {
  const goals = judgeGoals(results);
  const judged = goals.filter(({ verdict }) => verdict !== '');
  const missed = judged.filter(({ verdict }) => verdict === 'MISSED').length;
  const title = `Goals: ${judged.length - missed} reached, ${missed} missed, ${goals.length - judged.length} not measured`;
  const tables = [
    ...results.tables,
    ...(judged.length === 0 ? [] : [{ title, columns: GOAL_COLUMNS, rows: judged }]),
  ];
  return [table(results.rows), ...tables.map((each) => columnsTable(each))].join('\n');
}

/** Parts that were not measured stay in the file, with the machine and the date of their own measurement. */
export function saveResults(file, results, before) {
  const { other, ...measured } = results;
  const hasOwn = measured.rows.length + measured.tables.length > 0;
  const kept = hasOwn ? { ...measured, goals: judgeGoals(results) } : withoutOthers(before);
  const about = { machine: results.machine, date: results.date };
  const others = Object.fromEntries(
    OTHERS.map((name) => [name, other[name] === undefined ? before[name] : { ...about, ...other[name] }]),
  );
  writeFileSync(file, `${JSON.stringify({ ...kept, ...others }, short, 2)}\n`);
}

const OTHERS = ['search', 'inspection', 'audit', 'dashboard'];

function withoutOthers(before) {
  return Object.fromEntries(Object.entries(before).filter(([name]) => !OTHERS.includes(name)));
}

export function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {}; // The file is missing or unreadable.
  }
}

/** Rounds figures to six digits. */
function short(_key, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}
