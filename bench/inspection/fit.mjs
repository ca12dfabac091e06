// node bench/inspection/fit.mjs: fits the weights of src/policy/inspect/judge to what may be looked at, and writes them.

import { writeFileSync } from 'node:fs';

import { bundleSource } from '../retrieval/in-process.mjs';
import { examplesToFit } from './examples-to-fit.mjs';
import { chooseFeatures, fitWeights, sumOf } from './fit-weights.mjs';
import { inLines } from './in-lines.mjs';

/** So many real tools may be over the line by their text; what is found beside other servers comes on top. */
const REAL_ALARMS = 0.0073;
/** Weights below it change nothing that matters and are left out. */
const SMALL = 0.05;

if (process.argv[1] === new URL(import.meta.url).pathname) await main();

async function main() {
  const judge = await bundleSource('../bench/inspection/windows.ts');
  const { attacks, honest, real } = examplesToFit(judge);
  const features = chooseFeatures(attacks, [...honest, ...real], judge.nameOfFeature);
  console.log(
    `${attacks.length} attacks, ${honest.length} honest, ${real.length} real, ${features.size} features`,
  );
  const { weights, bias } = fitWeights(attacks, [...honest, ...real], features);
  // The line is drawn with the weights as they are written.
  for (let id = 0; id < weights.length; id++) weights[id] = Math.round(100 * weights[id]) / 100;
  const kept = new Map([...features].filter(([, id]) => Math.abs(weights[id]) >= SMALL));
  const loudest = ({ windows }) =>
    windows.reduce((most, window) => Math.max(most, sumOf(window, kept, weights)), -Infinity);
  const inOrder = real
    .filter(({ counts }) => counts)
    .map(loudest)
    .toSorted((one, other) => other - one);
  const line = inOrder[Math.floor(REAL_ALARMS * inOrder.length)] + 0.005;
  console.log(`line at ${(line + bias).toFixed(2)}`);
  const entries = [...kept].map(
    ([feature, id]) => `${judge.nameOfFeature(feature)} ${weights[id].toFixed(2)}`,
  );
  writeWeights([`bias ${(-line).toFixed(2)}`, ...entries.toSorted()]);
}

function writeWeights(entries) {
  const text = `/** Written by bench/inspection/fit.mjs; read by weights.ts. */\nexport const WEIGHTS = \`\n${inLines(entries)}\n\`;\n`;
  const file = new URL('../../src/policy/inspect/judge/weights-data.ts', import.meta.url);
  writeFileSync(file, text);
  console.log(`${entries.length} weights, ${text.length} characters`);
}
