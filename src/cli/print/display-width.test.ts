import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { truncate, displayWidth, wrapText } from './display-width.ts';

describe('display width', () => {
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
  ])('display width: is $is for "$text"', ({ text, is }) => {
    expect(displayWidth(text)).toBe(is);
  });
});

describe('truncation', () => {
  test('truncate: keeps text that fits and ends longer text with an ellipsis', () => {
    expect(truncate('exactly', 7)).toBe('exactly');
    expect(truncate('too long', 7)).toBe('too lo…');
    expect(truncate('日本語', 5)).toBe('日本…');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncate('a b c', 3)).toBe('a…');
  });

  test('truncate: never exceeds the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(displayWidth(truncate(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('wrapping', () => {
  test('wrap: breaks at spaces and inside words that are too long', () => {
    expect(wrapText('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrapText('abcdefghij k', 4)).toEqual(['abcd', 'efgh', 'ij k']);
    expect(wrapText('one\ntwo', 8)).toEqual(['one', 'two']);
    expect(wrapText('', 8)).toEqual(['']);
  });

  test('wrap: loses nothing but the spaces at the breaks', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 30 }), (text, width) => {
        expect(wrapText(text, width).join('').replaceAll(' ', '')).toBe(text.replaceAll(/[ \n]/g, ''));
      }),
    );
  });
});
