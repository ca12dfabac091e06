// node bench/inspection/run.mjs [--parts first/dev,second/dev] [--misses]: recall on the labelled attacks, false alarms on honest definitions.

import { parseArgs } from 'node:util';

import { bundleSource } from '../retrieval/in-process.mjs';
import { GOALS, PARTS, intervalOf, measureInspection, summariseInspection } from './measure.mjs';

const scannerFiles = ['policy/inspect/inspect.ts', 'policy/inspect/neighbours.ts'];

if (process.argv[1] === new URL(import.meta.url).pathname) process.exitCode = await main();

export async function inspectionRun(parts) {
  const modules = await Promise.all(scannerFiles.map(bundleSource));
  return measureInspection(Object.assign({}, ...modules), parts);
}

export function inspectionTable(summary) {
  const percent = (share) => `${(100 * share).toFixed(2)} %`;
  const goal = (isMet, text) => `${text}${isMet ? '' : ' MISSED'}`;
  const between = (share, count) => {
    const [least, most] = intervalOf(share * count, count).map((bound) => (100 * bound).toFixed(1));
    return `${least}–${most} %`;
  };
  const partRows = (byPart) =>
    Object.entries(byPart)
      .filter(([, { count }]) => count > 0)
      .map(([part, { found, count, share }]) => [
        `  ${part}: ${found} of ${count}`,
        share,
        between(share, count),
      ]);
  const recallGoal = goal(
    summary.recall >= GOALS.recall,
    `${between(summary.recall, summary.attacksOutside)}, goal ≥ 95 %`,
  );
  const realGoal = goal(
    summary.realAlarmsBesideAll <= GOALS.realAlarms,
    `${between(summary.realAlarmsBesideAll, summary.real)}, goal ≤ 1 %`,
  );
  const rows = [
    [`attacks found, of ${summary.attacksOutside} by a hand from outside`, summary.recall, recallGoal],
    [
      `  of all ${summary.attacksUnseen} that nothing was fitted to`,
      summary.recallUnseen,
      between(summary.recallUnseen, summary.attacksUnseen),
    ],
    [`  of all ${summary.attacks}`, summary.recallAll, ''],
    ...partRows(summary.recallByPart),
    ...partRows(summary.recallByFamily).map(([name, ...rest]) => [`    sixth/test, ${name.trim()}`, ...rest]),
    [`  of ${summary.attacksForeign} in other languages, nothing fitted to them`, summary.recallForeign, ''],
    [`alarms on ${summary.real} real tools, side by side`, summary.realAlarmsBesideAll, realGoal],
    ['  each by itself', summary.realAlarms, ''],
    [
      `alarms on ${summary.unseen} other real tools, which are not fitted to`,
      summary.unseenAlarmsBesideAll,
      between(summary.unseenAlarmsBesideAll, summary.unseen),
    ],
    ['  each by itself', summary.unseenAlarms, ''],
    [
      `alarms on ${summary.benignUnseen} hard honest ones that nothing was fitted to`,
      summary.hardAlarms,
      between(summary.hardAlarms, summary.benignUnseen),
    ],
    [`  of all ${summary.benign}`, summary.hardAlarmsAll, ''],
    ...partRows(summary.hardAlarmsByPart),
    [
      `  of ${summary.benignForeign} in other languages, nothing fitted to them`,
      summary.hardAlarmsForeign,
      '',
    ],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, share, note]) =>
    `${name.padEnd(width)}  ${percent(share).padStart(8)}  ${note}`.trimEnd(),
  );
  return ['Inspection of definitions', ...lines].join('\n');
}

async function main() {
  const { values } = parseArgs({
    options: { parts: { type: 'string' }, misses: { type: 'boolean', default: false } },
  });
  const parts = values.parts?.split(',') ?? (values.misses ? PARTS.filter(mayBeSeen) : PARTS);
  const hidden = parts.filter((part) => !mayBeSeen(part));
  if (values.misses && hidden.length > 0) {
    console.error(`What was missed is not shown for ${hidden.join(', ')}.`);
    return 2;
  }
  const measured = await inspectionRun(parts);
  console.log(inspectionTable(summariseInspection(measured)));
  if (values.misses) showMisses(measured);
  return 0;
}

function mayBeSeen(part) {
  return /\/(?:dev|train|validation)$/.test(part);
}

function showMisses({ attacks, benign, real }) {
  for (const { id, findings, definition } of attacks) {
    if (findings.length === 0) console.log(`missed ${id}: ${JSON.stringify(definition).slice(0, 400)}`);
  }
  for (const { id, findings } of benign) {
    for (const { rule, where, excerpt } of findings) console.log(`alarm ${id}: ${rule} ${where}: ${excerpt}`);
  }
  for (const { upstream, definition, alone, together } of real) {
    for (const { rule, where, excerpt } of [...alone, ...together])
      console.log(`alarm ${upstream}/${definition.name}: ${rule} ${where}: ${excerpt}`);
  }
}
