// node bench/inspection/run.mjs [--parts first/dev,second/dev] [--misses]: recall on the labelled attacks, false alarms on honest definitions.

import { parseArgs } from 'node:util';

import { missingDataMessage } from '../data/public-data.mjs';
import { bundleSource } from '../lib/bundle-source.mjs';
import { GOALS, PARTS, intervalOf, measureInspection, summariseInspection } from './measure.mjs';

if (process.argv[1] === new URL(import.meta.url).pathname) process.exitCode = await main();

export async function inspectionRun(parts) {
  const { inspectDefinition } = await bundleSource('src/policy/inspection/inspect-definition.ts');
  const { createCrossServerInspection } = await bundleSource(
    'src/policy/inspection/cross-server-inspection.ts',
  );
  return measureInspection(
    { inspect: inspectDefinition, inspectBesideOthers: createCrossServerInspection },
    parts,
  );
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
  const publicGoal = goal(
    summary.publicAlarmsBesideAll <= GOALS.publicAlarms,
    `${between(summary.publicAlarmsBesideAll, summary.publicTools)}, goal ≤ 1 %`,
  );
  const publicRows = [
    [
      `alarms on ${summary.publicTools} public tools, side by side`,
      summary.publicAlarmsBesideAll,
      publicGoal,
    ],
    ['  each by itself', summary.publicAlarms, ''],
  ];
  const otherRow = [
    `alarms on ${summary.otherTools} public functions (bfcl) that nothing was fitted to`,
    summary.otherAlarms,
    between(summary.otherAlarms, summary.otherTools),
  ];
  const rows = [
    [`attacks found, of ${summary.attacksOutside} by an outside author`, summary.recall, recallGoal],
    [
      `  of all ${summary.attacksUnseen} that nothing was fitted to`,
      summary.recallUnseen,
      between(summary.recallUnseen, summary.attacksUnseen),
    ],
    [`  of all ${summary.attacks}`, summary.recallAll, ''],
    ...partRows(summary.recallByPart),
    ...partRows(summary.recallByFamily).map(([name, ...rest]) => [`    sixth/test, ${name.trim()}`, ...rest]),
    [`  of ${summary.attacksForeign} in other languages, nothing fitted to them`, summary.recallForeign, ''],
    ...(summary.publicTools > 0 ? publicRows : []),
    ...(summary.otherTools > 0 ? [otherRow] : []),
    [
      `alarms on ${summary.generatedTools} generated tools that nothing was fitted to`,
      summary.generatedAlarmsBesideAll,
      `by ${summary.generatedSentences} different sentences`,
    ],
    ['  each by itself', summary.generatedAlarms, ''],
    [
      `alarms on ${summary.benignUnseen} hard honest definitions that nothing was fitted to`,
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
  const notes =
    summary.publicTools > 0
      ? []
      : [`Left out: ${missingDataMessage('catalog', 'Alarms on public tools are not measured.')}`];
  return ['Inspection of definitions', ...lines, ...notes].join('\n');
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
  return /\/(?:dev|train|validation|reworded)$/.test(part);
}

function showMisses({ attacks, benign, generatedTools, publicTools }) {
  for (const { id, findings, definition } of attacks) {
    if (findings.length === 0) console.log(`missed ${id}: ${JSON.stringify(definition).slice(0, 400)}`);
  }
  for (const { id, findings } of benign) {
    for (const { rule, where, excerpt } of findings) console.log(`alarm ${id}: ${rule} ${where}: ${excerpt}`);
  }
  for (const { upstream, definition, alone, together } of [...generatedTools, ...publicTools]) {
    for (const { rule, where, excerpt } of [...alone, ...together])
      console.log(`alarm ${upstream}/${definition.name}: ${rule} ${where}: ${excerpt}`);
  }
}
