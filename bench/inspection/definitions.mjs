// The fourth and the sixth set: one whole definition of a tool per line, as real servers write them.

import { readFileSync } from 'node:fs';

/** The examples of one file, `attacks` or `honest`, of a set. */
export function definitionsOf(set, file) {
  const lines = readFileSync(new URL(`${set}/${file}.jsonl`, import.meta.url), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const { id, family = 'honest', tool } = JSON.parse(line);
      return { id, type: family, kind: 'tool', definition: tool };
    });
}
