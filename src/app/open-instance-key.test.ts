import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../test/support/test-run.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { deriveKey } from '../core/lib/derive-key.ts';
import { openInstanceKey } from './open-instance-key.ts';

/** 32 bytes without a pattern, the same in each run. */
const BYTES = createHash('sha256').update('instance key').digest();
const IN_FILE = BYTES.toString('base64');

function keyOf(key: string | undefined, env: Record<string, string> = {}, stateDir = temporaryFolder('key')) {
  const options = { stateDir, env, home: stateDir, platform: 'linux' as const };
  // Only `storage` is read.
  const value = { storage: { ...(key !== undefined && { key }) } } as ConfigSnapshot['value'];
  return openInstanceKey(options, { file: join(stateDir, 'config.jsonc'), value });
}

test('instance key: is read from the state folder unless a key is configured', async () => {
  const stateDir = temporaryFolder('key');
  writeFileSync(join(stateDir, 'secret.key'), `${IN_FILE}\n`, { mode: 0o600 });
  const own = await keyOf(undefined, {}, stateDir).get();
  expect(own.toString('base64')).toBe(IN_FILE);
  // The same key can be configured for all gateways, so encrypted data stays readable.
  expect((await keyOf('${env:KEY}', { KEY: IN_FILE }).get()).equals(own)).toBe(true);
});

test.each([
  ['hex', BYTES.toString('hex')],
  ['base64url', BYTES.toString('base64url')],
  ['more bytes', Buffer.concat([BYTES, BYTES.subarray(0, 4)]).toString('base64')],
])('instance key: is derived from random bytes in another format, as before: %s', async (_format, text) => {
  const [one, other] = await Promise.all([
    keyOf('${env:KEY}', { KEY: text }).get(),
    keyOf('${env:KEY}', { KEY: randomBytes(32).toString('hex') }).get(),
  ]);
  expect(one).toHaveLength(32);
  // Databases of earlier versions stay readable.
  expect(one.equals(deriveKey(Buffer.from(text), 'trunkline key 1'))).toBe(true);
  expect(one.equals(other)).toBe(false);
});

test.each([
  'only-31-characters-of-something',
  'x'.repeat(32),
  'x'.repeat(64),
  'deadbeef'.repeat(8),
  '0123456789abcdef'.repeat(4),
  'the fleet of our company in Prague, 2026: correct horse',
  'Correct-Horse-Battery-Staple-Of-Our-Company-In-Prague-2026',
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU',
  Buffer.alloc(32, 7).toString('base64'),
  Buffer.from('our-fleet-in-Prague-2026-secret!').toString('base64'),
  Buffer.from('our-fleet-in-Prague-2026-secret!').toString('hex'),
])('instance key: rejects the guessable text %j, which could be tested offline', async (text) => {
  const problem = await keyOf('${env:KEY}', { KEY: text })
    .get()
    .then(() => 'accepted', String);
  expect(problem).toMatch(/too short|can be guessed/);
  expect(problem).toContain('openssl rand -base64 32');
  expect(problem).not.toContain(text);
});

test('instance key: accepts the output of a random generator', async () => {
  for (let count = 0; count < 300; count++)
    for (const format of ['base64', 'base64url', 'hex'] as const) {
      const key = keyOf('${env:KEY}', { KEY: randomBytes(32).toString(format) }, tmpdir());
      expect(await key.get()).toHaveLength(32);
    }
});

test('instance key: retries a reference that could not be resolved', async () => {
  const stateDir = temporaryFolder('key');
  const key = keyOf('${file:fleet.key}', {}, stateDir);
  await expect(key.get()).rejects.toThrow(/fleet.key/);
  writeFileSync(join(stateDir, 'fleet.key'), `${IN_FILE}\n`);
  expect((await key.get()).toString('base64')).toBe(IN_FILE);
});
