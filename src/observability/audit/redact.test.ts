import { describe, expect, test } from 'vitest';

import { REDACTED, redactText, redactUri, redactValue } from './redact.ts';

describe('redaction', () => {
  test.each([
    ['sk-ant-api03-abcdefghijklmnopqrst'],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
    ['xoxb-1234567890-abcdef'],
    ['AKIAABCDEFGHIJKLMNOP'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh'],
  ])('redaction: removes %s from any text, also after an underscore', (secret) => {
    for (const text of [secret, `use ${secret}.`, `server__${secret}`, `"${secret}"`])
      expect(redactText(text)).not.toContain(secret);
  });

  test.each([
    ['Authorization: Bearer abcdefgh1234', 'abcdefgh1234'],
    ['postgres://user:hunter22@host/db', 'hunter22'],
    ['password=hunter22&x=1', 'hunter22'],
    ['{\\"api_key\\": \\"hunter22\\"}', 'hunter22'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIabc', 'MIIabc'],
  ])('redaction: removes the secret from %s', (text, secret) => {
    expect(redactText(text)).not.toContain(secret);
  });

  test('redaction: leaves ordinary text unchanged', () => {
    for (const text of ['hello world', 'the task-list of skills', 'https://example.com/a?b=c', 'tokens: 5'])
      expect(redactText(text)).toBe(text);
  });

  test('redaction: removes values with a secret name at any depth', () => {
    const value = { user: 'me', dbPassword: 'x', nested: [{ apiKey: 5, isToken: true, note: 'keep' }] };
    expect(redactValue(value)).toEqual({
      user: 'me',
      dbPassword: REDACTED,
      nested: [{ apiKey: REDACTED, isToken: true, note: 'keep' }],
    });
  });

  test('redaction: strips credentials, query and fragment from a URI', () => {
    expect(redactUri('https://me:pw@example.com/path?key=value#part')).toBe('https://example.com/path?…');
    expect(redactUri('file:///etc/hosts')).toBe('file:///etc/hosts');
  });

  test('redaction: handles long texts quickly', () => {
    for (const text of [
      'a'.repeat(200_000),
      'token'.repeat(40_000),
      '-'.repeat(200_000),
      'a://'.repeat(50_000),
    ])
      expect(redactText(text).length).toBeGreaterThan(0);
  }, 4000);
});
