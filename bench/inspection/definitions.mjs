// Reads the fourth and the sixth set: one complete tool definition per line, as real servers write them.

import { readFileSync } from 'node:fs';

/** The examples of one file of a set, such as `attacks`. */
export function definitionsOf(set, file) {
  const lines = readFileSync(new URL(`${set}/${file}.jsonl`, import.meta.url), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const { id, family = 'honest', tool } = JSON.parse(line);
      return { id, type: family, kind: 'tool', definition: tool };
    });
}
