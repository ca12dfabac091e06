import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../test/support/test-run.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { instanceKey } from './instance-key.ts';

const IN_FILE = Buffer.alloc(32, 7).toString('base64');

function keyOf(key: string | undefined, env: Record<string, string> = {}, stateDir = temporaryFolder('key')) {
  const options = { stateDir, env, home: stateDir, platform: 'linux' as const };
  // Nothing else of it is looked at.
  const value = { storage: { ...(key !== undefined && { key }) } } as ConfigSnapshot['value'];
  return instanceKey(options, { file: join(stateDir, 'config.jsonc'), value });
}

test('is that of the state folder unless another one is configured', async () => {
  const stateDir = temporaryFolder('key');
  writeFileSync(join(stateDir, 'secret.key'), `${IN_FILE}\n`, { mode: 0o600 });
  const own = await keyOf(undefined, {}, stateDir).get();
  expect(own.toString('base64')).toBe(IN_FILE);
  // Which can be that of all gateways, so that what was encrypted stays readable.
  expect((await keyOf('${env:KEY}', { KEY: IN_FILE }).get()).equals(own)).toBe(true);
});

test('is made of any text that is long enough', async () => {
  const [one, same, other] = await Promise.all([
    keyOf('${env:KEY}', { KEY: 'x'.repeat(32) }).get(),
    keyOf('${env:KEY}', { KEY: 'x'.repeat(32) }).get(),
    keyOf('${env:KEY}', { KEY: 'x'.repeat(33) }).get(),
  ]);
  expect(one).toHaveLength(32);
  expect(one.equals(same)).toBe(true);
  expect(one.equals(other)).toBe(false);
  const short = await keyOf('${env:KEY}', { KEY: 'only-31-characters-of-something' }).get().catch(String);
  expect(short).toContain('too short');
  expect(short).not.toContain('only-31');
});

test('is looked for again when it was not there', async () => {
  const stateDir = temporaryFolder('key');
  const key = keyOf('${file:fleet.key}', {}, stateDir);
  await expect(key.get()).rejects.toThrow(/fleet.key/);
  writeFileSync(join(stateDir, 'fleet.key'), `${IN_FILE}\n`);
  expect((await key.get()).toString('base64')).toBe(IN_FILE);
});
