// Public data that belongs to others and is not part of this repository: the tool definitions of public MCP servers (`catalog`) and
// public sets of requests (`retrieval`). They are looked for in the folder that TRUNKLINE_BENCH_DATA names, or else in `shared` beside the
// repository. README.md in this folder describes the formats.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const beside = fileURLToPath(new URL('../../../shared', import.meta.url));

/** `[{ name, server, version, tools }]`, or undefined where the public catalog is not at hand. */
export function readPublicCatalog(folder = dataFolder()) {
  const files = jsonFilesIn(join(folder, 'catalog'));
  if (files.length === 0) return undefined;
  return files.map((file) => ({
    name: file.slice(0, -'.json'.length),
    ...JSON.parse(readFileSync(join(folder, 'catalog', file), 'utf8')),
  }));
}

/** `{ tools, queries }` of a public set, or undefined where it is not at hand. */
export function readPublicSet(name, folder = dataFolder()) {
  const file = `${name}.dev.json`;
  if (!jsonFilesIn(join(folder, 'retrieval')).includes(file)) return undefined;
  return JSON.parse(readFileSync(join(folder, 'retrieval', file), 'utf8'));
}

/** What is missing, what is left out because of it, and how to add it. */
export function missingDataMessage(missing, leftOut, folder = dataFolder()) {
  return `${missing} is not in ${folder}. ${leftOut} Set TRUNKLINE_BENCH_DATA to a folder that has it; bench/data/README.md describes the format.`;
}

function dataFolder() {
  const { TRUNKLINE_BENCH_DATA: chosen } = process.env;
  return chosen === undefined || chosen === '' ? beside : chosen;
}

function jsonFilesIn(folder) {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .toSorted();
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
