import { readFileSync, readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { isSameSecret, makeSecret, readSecret } from './secret-text.ts';

test('what was made is recognised, and nothing that differs in a character', () => {
  const { text, id, hash } = makeSecret('tl_');
  const shown = readSecret('tl_', text);
  expect(shown).toMatchObject({ id, hash });
  expect(shown && isSameSecret(shown, hash)).toBe(true);
  for (let at = 3; at < text.length; at++) {
    const changed = `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`;
    const other = readSecret('tl_', changed);
    expect(other === undefined || isSameSecret(other, hash)).toBe(false);
  }
  expect(shown && isSameSecret(shown, undefined)).toBe(false);
});

test('what has another shape is none', () => {
  const { text } = makeSecret('tl_');
  for (const wrong of [
    '',
    'tl_',
    text.slice(1),
    `${text}a`,
    text.slice(0, -1),
    text.replace('tl_', 'tla_'),
    `${text}\n`,
  ])
    expect(readSecret('tl_', wrong)).toBeUndefined();
});

test('no hash is compared but in constant time', () => {
  const folder = new URL('.', import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.join('')).toContain('timingSafeEqual(');
  for (const source of sources) {
    expect(source).not.toMatch(/hash\b\s*[!=]==(?!\s*(?:undefined|''))/i);
    expect(source).not.toMatch(/where\('hash'/);
  }
});
