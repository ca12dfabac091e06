import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { seal, unseal } from './seal.ts';

const key = randomBytes(32);
const about = ['sign-in', 'it', ''];

test('sealed text: decrypts to the original and differs on every encryption', () => {
  const text = 'a token – ✓';
  const sealed = [seal(text, key, about), seal(text, key, about)];
  expect(sealed[0]).not.toBe(sealed[1]);
  for (const one of sealed) {
    expect(one).not.toContain('token');
    expect(unseal(one, key, about)).toBe(text);
  }
});

test('sealed text: does not decrypt with another key, context or a changed byte', () => {
  const sealed = seal('a token', key, about);
  expect(unseal(sealed, randomBytes(32), about)).toBeUndefined();
  expect(unseal(sealed, key, ['sign-in', 'it', 'somebody else'])).toBeUndefined();
  expect(unseal(sealed, key, ['sign-in', 'i', 't'])).toBeUndefined();
  for (let at = 3; at < sealed.length - 1; at += 7) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    expect(unseal(changed, key, about)).toBeUndefined();
  }
  for (const odd of ['', 'v1.', 'v2.AAAA', 'v1.AAAA', 'nonsense'])
    expect(unseal(odd, key, about)).toBeUndefined();
});
