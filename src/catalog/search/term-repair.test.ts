import { describe, expect, it } from 'vitest';

import { createTermRepair } from './term-repair.ts';

const TERMS = ['calendar', 'calender', 'file', 'system', 'weather', 'kubernet', 'issu', 'log'];
const repair = createTermRepair(TERMS.map((term, id) => [term, id] as const));
const repaired = (word: string): string[] => repair(word).map((id) => TERMS[id] ?? '');

describe('repairer', () => {
  it('spelling repair: finds the intended word, closest first', () => {
    expect(repaired('wheather')).toEqual(['weather']);
    expect(repaired('waether')).toEqual(['weather']);
    expect(repaired('calendr')).toEqual(['calendar', 'calender']);
  });

  it('spelling repair: undoes swapped letters at the start and in short words', () => {
    expect(repaired('iflesystem')).toEqual([]);
    expect(repaired('ifle')).toEqual(['file']);
    expect(repaired('lgo')).toEqual(['log']);
  });

  it('spelling repair: splits a compound into two words', () => {
    expect(repaired('filesystem')).toEqual(['file', 'system']);
  });

  it('spelling repair: completes the beginning of a word', () => {
    expect(repaired('kuber')).toEqual(['kubernet']);
  });

  it('spelling repair: returns nothing for short words, digits and distant words', () => {
    for (const word of ['iss', '12345', 'xylophone', '']) expect(repaired(word)).toEqual([]);
  });
});
