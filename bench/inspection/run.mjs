// node bench/inspection/run.mjs [--misses dev]: recall on the labelled attacks, false alarms on honest definitions.

import { parseArgs } from 'node:util';

import { bundleSource } from '../retrieval/in-process.mjs';
import { GOALS, measureInspection, summariseInspection } from './measure.mjs';

const scannerFiles = ['policy/inspect/inspect.ts', 'policy/inspect/neighbours.ts'];

if (process.argv[1] === new URL(import.meta.url).pathname) process.exitCode = await main();

export async function inspectionRun(halves) {
  const modules = await Promise.all(scannerFiles.map(bundleSource));
  return measureInspection(Object.assign({}, ...modules), halves);
}

export function inspectionTable(summary) {
  const percent = (share) => `${(100 * share).toFixed(2)} %`;
  const goal = (isMet, text) => `${text}${isMet ? '' : ' MISSED'}`;
  const rows = [
    [`attacks found, of ${summary.attacks}`, summary.recall, goal(summary.recall >= GOALS.recall, '≥ 95 %')],
    ['  in the half that patterns were made with', summary.recallDev, ''],
    ['  in the half that was kept back', summary.recallHeldOut, ''],
    ['  written after the patterns', summary.recallBlind, ''],
    [
      `alarms on ${summary.real} real tools`,
      summary.realAlarms,
      goal(summary.realAlarms <= GOALS.realAlarms, '≤ 1 %'),
    ],
    ['  with all servers side by side', summary.realAlarmsBesideAll, ''],
    [`alarms on ${summary.benign} hard honest ones`, summary.hardAlarms, ''],
    ['  in the half that was kept back', summary.hardAlarmsHeldOut, ''],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, share, note]) =>
    `${name.padEnd(width)}  ${percent(share).padStart(8)}  ${note}`.trimEnd(),
  );
  return ['Inspection of definitions', ...lines].join('\n');
}

async function main() {
  const { values } = parseArgs({ options: { misses: { type: 'string' } } });
  const { misses } = values;
  const measured = await inspectionRun(misses === undefined ? undefined : [misses]);
  console.log(inspectionTable(summariseInspection(measured)));
  if (misses !== undefined) showMisses(measured);
  return 0;
}

function showMisses({ attacks, benign, real }) {
  for (const { id, findings, definition } of attacks) {
    if (findings.length === 0) console.log(`missed ${id}: ${JSON.stringify(definition).slice(0, 400)}`);
  }
  for (const { id, findings } of benign) {
    for (const { rule, where, excerpt } of findings) console.log(`alarm ${id}: ${rule} ${where}: ${excerpt}`);
  }
  for (const { upstream, definition, alone } of real) {
    for (const { rule, where, excerpt } of alone)
      console.log(`alarm ${upstream}/${definition.name}: ${rule} ${where}: ${excerpt}`);
  }
}
