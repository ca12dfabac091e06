import { describe, expect, it } from 'vitest';

import { repairer } from './repair.ts';

const TERMS = ['calendar', 'calender', 'file', 'system', 'weather', 'kubernet', 'issu'];
const repair = repairer(TERMS.map((term, id) => [term, id] as const));
const repaired = (word: string): string[] => repair(word).map((id) => TERMS[id] ?? '');

describe('repairer', () => {
  it('finds the word that was meant by a typing error, the nearest first', () => {
    expect(repaired('wheather')).toEqual(['weather']);
    expect(repaired('waether')).toEqual(['weather']);
    expect(repaired('calendr')).toEqual(['calendar', 'calender']);
  });

  it('takes a word apart that is written as two', () => {
    expect(repaired('filesystem')).toEqual(['file', 'system']);
  });

  it('completes the beginning of a word', () => {
    expect(repaired('kuber')).toEqual(['kubernet']);
  });

  it('guesses nothing for short words, digits and what is too far from everything', () => {
    for (const word of ['iss', '12345', 'xylophone', '']) expect(repaired(word)).toEqual([]);
  });
});
