// node bench/inspection/group-words.mjs: groups words of similar use by the word vectors of the search and writes the groups for the
// inspection. Run it again only after those vectors have changed; afterwards the weights have to be fitted again.

import { readFileSync, writeFileSync } from 'node:fs';

import { wrapEntries } from './wrap-entries.mjs';

const GROUPS = 512;
/** The vectors are sorted by the frequency of their words. */
const WORDS = 12_000;
const FREQUENT = 8_000;
const ROUNDS = 8;

if (process.argv[1] === new URL(import.meta.url).pathname) main();

function main() {
  const { terms, vectors, dimensions } = readVectors();
  const groups = groupsOf(vectors, terms.length, dimensions);
  const lines = Array.from({ length: GROUPS }, () => []);
  for (const [at, term] of terms.entries()) if (/^[a-z']+$/.test(term)) lines[groups[at]].push(term);
  const entries = lines.flatMap((words, group) => (words.length > 0 ? [`${group} ${words.join(' ')}`] : []));
  const head =
    '/** Written by bench/inspection/group-words.mjs from src/catalog/search/data, where sources and licences are named; read by term-vocabulary.ts. */';
  const file = new URL('../../src/policy/inspection/classifier/word-groups-data.ts', import.meta.url);
  writeFileSync(file, `${head}\nexport const WORD_GROUPS = \`\n${wrapEntries(entries)}\n\`;\n`);
}

function readVectors() {
  const bytes = readFileSync(new URL('../../src/catalog/search/data/word-vectors.bin', import.meta.url));
  const headLength = bytes.readUInt32LE(0);
  const { dimensions, terms } = JSON.parse(bytes.subarray(4, 4 + headLength).toString());
  const kept = terms.split(' ').slice(0, WORDS);
  const vectors = new Float32Array(kept.length * dimensions);
  for (let at = 0; at < vectors.length; at++) vectors[at] = bytes.readInt8(4 + headLength + at);
  for (let place = 0; place < kept.length; place++) toUnit(vectors, place * dimensions, dimensions);
  return { terms: kept, vectors, dimensions };
}

/** k-means: assigns each word to the nearest centre, then moves the centres to the middle of their groups. */
function groupsOf(vectors, count, dimensions) {
  const centres = new Float32Array(GROUPS * dimensions);
  let seed = 1;
  for (let group = 0; group < GROUPS; group++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const place = Math.floor((seed / 2_147_483_648) * FREQUENT) * dimensions;
    centres.set(vectors.subarray(place, place + dimensions), group * dimensions);
  }
  const groups = new Int32Array(count);
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < count; at++) groups[at] = nearest(vectors, at * dimensions, centres, dimensions);
    centres.fill(0);
    for (let at = 0; at < count; at++)
      for (let dimension = 0; dimension < dimensions; dimension++)
        centres[groups[at] * dimensions + dimension] += vectors[at * dimensions + dimension];
    for (let group = 0; group < GROUPS; group++) toUnit(centres, group * dimensions, dimensions);
  }
  return groups;
}

function nearest(vectors, from, centres, dimensions) {
  let most = -Infinity;
  let best = 0;
  for (let group = 0; group < GROUPS; group++) {
    let sum = 0;
    for (let dimension = 0; dimension < dimensions; dimension++)
      sum += vectors[from + dimension] * centres[group * dimensions + dimension];
    if (sum > most) {
      most = sum;
      best = group;
    }
  }
  return best;
}

function toUnit(vectors, from, dimensions) {
  let squares = 0;
  for (let at = from; at < from + dimensions; at++) squares += vectors[at] ** 2;
  const scale = 1 / Math.sqrt(squares || 1);
  for (let at = from; at < from + dimensions; at++) vectors[at] *= scale;
}
