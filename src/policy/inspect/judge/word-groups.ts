import type { Vocabulary } from './vocabulary.ts';

/** For a word the group of words that are used alike, as a number of the vocabulary. */
export type WordGroups = ReadonlyMap<string, number>;

/** Reads groups as `number word word …`, with semicolons between them; they are called `~number`. */
export function readWordGroups(data: string, vocabulary: Vocabulary): WordGroups {
  const groups = new Map<string, number>();
  for (const entry of data.trim().split(/[;\n]/)) {
    const [number = '', ...words] = entry.split(' ');
    const group = vocabulary.wordOf(`~${number}`);
    if (group !== undefined) for (const word of words) groups.set(word, group);
  }
  return groups;
}
