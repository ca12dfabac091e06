import { readFileSync, readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { matchesHash, generateSecret, parseSecret } from './issued-secret.ts';

test('secret: verifies as issued and fails with any character changed', () => {
  const { text, id, hash } = generateSecret('tl_');
  const parsed = parseSecret('tl_', text);
  expect(parsed).toMatchObject({ id, hash });
  expect(parsed && matchesHash(parsed, hash)).toBe(true);
  for (let index = 3; index < text.length; index++) {
    const changed = `${text.slice(0, index)}${text[index] === 'a' ? 'b' : 'a'}${text.slice(index + 1)}`;
    const other = parseSecret('tl_', changed);
    expect(other === undefined || matchesHash(other, hash)).toBe(false);
  }
  expect(parsed && matchesHash(parsed, undefined)).toBe(false);
});

test('secret: rejects text of another shape', () => {
  const { text } = generateSecret('tl_');
  for (const wrong of [
    '',
    'tl_',
    text.slice(1),
    `${text}a`,
    text.slice(0, -1),
    text.replace('tl_', 'tla_'),
    `${text}\n`,
  ])
    expect(parseSecret('tl_', wrong)).toBeUndefined();
});

test('secret: is never compared by hash without timingSafeEqual', () => {
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

test.each(['', 'zz', '00', '0'.repeat(66), '\u001b[2J', 'é'.repeat(64)])(
  'secret: does not match the stored hash %j, which no gateway writes',
  (hash) => {
    expect(matchesHash(generateSecret('tl_'), hash)).toBe(false);
  },
);
