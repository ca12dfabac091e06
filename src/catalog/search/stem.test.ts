import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { stem } from './stem.ts';

describe('stem', () => {
  it.each([
    ['queries', 'query'],
    ['searches', 'search'],
    ['running', 'run'],
    ['merged', 'merge'],
    ['translation', 'translate'],
    ['validator', 'validate'],
    ['converter', 'convert'],
    ['optimization', 'optimize'],
  ])('stem: treats %s as a form of %s', (form, word) => {
    expect(stem(form)).toBe(stem(word));
  });

  it('stem: leaves short words and other alphabets unchanged', () => {
    expect(stem('gas')).toBe('gas');
    expect(stem('погоды')).toBe('погоды');
  });

  it('stem: never returns an empty or longer word', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,20}$/), (word) => {
        expect(stem(word).length).toBeGreaterThan(0);
        expect(stem(word).length).toBeLessThanOrEqual(word.length);
      }),
    );
  });
});
