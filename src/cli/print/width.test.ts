import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { cut, widthOf, wrap } from './width.ts';

describe('width', () => {
  test.each([
    { text: '', is: 0 },
    { text: 'plain', is: 5 },
    { text: 'naïve', is: 5 },
    { text: 'nai\u0308ve', is: 5 },
    { text: '日本語', is: 6 },
    { text: 'ｆｕｌｌ', is: 8 },
    { text: '🚀', is: 2 },
    { text: '👩‍👩‍👧', is: 2 },
    { text: '🇨🇿', is: 2 },
    { text: '⚠️', is: 2 },
    { text: 'a\u200bb', is: 2 },
    { text: 'привет', is: 6 },
  ])('of "$text" is $is', ({ text, is }) => {
    expect(widthOf(text)).toBe(is);
  });
});

describe('cut', () => {
  test('leaves what fits and ends the rest in an ellipsis', () => {
    expect(cut('exactly', 7)).toBe('exactly');
    expect(cut('too long', 7)).toBe('too lo…');
    expect(cut('日本語', 5)).toBe('日本…');
    expect(cut('日本語', 4)).toBe('日…');
    expect(cut('a b c', 3)).toBe('a…');
  });

  test('never exceeds the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('wrap', () => {
  test('breaks at spaces, and words that are too long anywhere', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij k', 4)).toEqual(['abcd', 'efgh', 'ij k']);
    expect(wrap('one\ntwo', 8)).toEqual(['one', 'two']);
    expect(wrap('', 8)).toEqual(['']);
  });

  test('loses nothing but the spaces at which it breaks', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 30 }), (text, width) => {
        expect(wrap(text, width).join('').replaceAll(' ', '')).toBe(text.replaceAll(/[ \n]/g, ''));
      }),
    );
  });
});
