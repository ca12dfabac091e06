// node bench/inspection/fit.mjs: fits the weights of src/policy/inspection/classifier to the examples that may be read, and writes them.

import { writeFileSync } from 'node:fs';

import { bundleSource } from '../lib/bundle-source.mjs';
import { examplesToFit } from './examples-to-fit.mjs';
import { chooseFeatures, fitWeights, sumOf } from './fit-weights.mjs';
import { wrapEntries } from './wrap-entries.mjs';

/** How many tools of the public catalog may exceed the threshold by their sentences, and how many more by a name; findings of the comparison with other servers come on top. */
const SAID_ALARMS = 14;
const NAME_ALARMS = 1;
/** Smaller weights make no difference and are left out. */
const SMALL = 0.05;

if (process.argv[1] === new URL(import.meta.url).pathname) await main();

async function main() {
  const judge = await bundleSource('bench/inspection/windows.ts');
  const { attacks, honest, real } = examplesToFit(judge);
  const features = chooseFeatures(attacks, [...honest, ...real], judge.nameOfFeature);
  console.log(
    `${attacks.length} attacks, ${honest.length} honest, ${real.length} real, ${features.size} features`,
  );
  const { weights, bias } = fitWeights(attacks, [...honest, ...real], features);
  // The threshold is computed with the rounded weights that are written to the file.
  for (let id = 0; id < weights.length; id++) weights[id] = Math.round(100 * weights[id]) / 100;
  const name = [...features.keys()].find((feature) => judge.nameOfFeature(feature) === '@name');
  const kept = new Map(
    [...features].filter(([feature, id]) => feature === name || Math.abs(weights[id]) >= SMALL),
  );
  const lines = linesOf(
    real.filter(({ counts }) => counts),
    (window) => sumOf(window, kept, weights),
    name,
  );
  console.log(
    `thresholds at ${(lines.said + bias).toFixed(2)}, for names at ${(lines.named + bias).toFixed(2)}`,
  );
  weights[kept.get(name)] -= lines.named - lines.said;
  const entries = [...kept].map(
    ([feature, id]) => `${judge.nameOfFeature(feature)} ${weights[id].toFixed(2)}`,
  );
  writeWeights([`bias ${(-lines.said).toFixed(2)}`, ...entries.toSorted()]);
}

/** Names have a threshold of their own: a few words in a row mean little and would cause most of the tolerated alarms. */
function linesOf(tools, scoreOf, name) {
  const loudest = (windows) => windows.reduce((most, window) => Math.max(most, scoreOf(window)), -Infinity);
  const scores = tools.map(({ windows }) => ({
    said: loudest(windows.filter((window) => !window.includes(name))),
    named: loudest(windows.filter((window) => window.includes(name))),
  }));
  const after = (list, count) => list.toSorted((one, other) => other - one)[count] + 0.005;
  const said = after(
    scores.map((score) => score.said),
    SAID_ALARMS,
  );
  const others = scores.filter((score) => score.said <= said);
  return {
    said,
    named: after(
      others.map((score) => score.named),
      NAME_ALARMS,
    ),
  };
}

function writeWeights(entries) {
  const text = `/** Written by bench/inspection/fit.mjs; read by classifier-weights.ts. */\nexport const CLASSIFIER_WEIGHTS = \`\n${wrapEntries(entries)}\n\`;\n`;
  const file = new URL('../../src/policy/inspection/classifier/classifier-weights-data.ts', import.meta.url);
  writeFileSync(file, text);
  console.log(`${entries.length} weights, ${text.length} characters`);
}
