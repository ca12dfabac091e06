import { expect, test } from 'vitest';

import { validateConfig } from '../config/validate.ts';
import type { Fingerprint } from '../model/ids.ts';
import { storePlace } from './open-store.ts';

function placeOf(storage: object, env: Readonly<Record<string, string>> = {}) {
  const text = JSON.stringify({ storage });
  const snapshot = validateConfig({ file: '/c/config.jsonc', text, revision: 'r' as Fingerprint });
  return storePlace({ stateDir: '/s', env, home: '/h' }, snapshot);
}

test('without an address everything is in the state folder', async () => {
  expect(await placeOf({})).toEqual({ stateDir: '/s' });
});

test('an address is revealed, with its limits', async () => {
  const place = await placeOf(
    { url: '${env:PGURL}', poolSize: 3, connectTimeout: '1s' },
    { PGURL: 'postgres://me:open@db.example.com:5433/team' },
  );
  expect(place.server).toEqual({
    url: 'postgres://me:open@db.example.com:5433/team',
    ...{ poolSize: 3, connectTimeoutMs: 1000, statementTimeoutMs: 15_000 },
  });
});

test('who we are is taken from the environment where the address does not say', async () => {
  const env = { PGUSER: 'me', PGPASSWORD: 'open&' };
  expect((await placeOf({ url: 'postgres://db/team' }, env)).server?.url).toBe(
    'postgres://db/team?user=me&password=open%26',
  );
  expect((await placeOf({ url: 'postgres://you:shut@db/team' }, env)).server?.url).toBe(
    'postgres://you:shut@db/team',
  );
});

test.each([
  ['a variable that is not set', '${env:PGURL}', {}, 'SECRET_MISSING'],
  ['a variable with something else', '${env:PGURL}', { PGURL: 'mysql://open-sesame@x' }, 'CONFIG_INVALID'],
])('%s is refused without being shown', async (_which, url, env, code) => {
  const refused = placeOf({ url }, env);
  await expect(refused).rejects.toMatchObject({ code });
  await expect(refused).rejects.not.toThrow('open-sesame');
});

test('an address of another kind is refused where it is written', () => {
  expect(() =>
    validateConfig({
      file: '/c',
      text: '{"storage": {"url": "mysql://sesame"}}',
      revision: 'r' as Fingerprint,
    }),
  ).toThrow(/"storage.url" must be an address that begins with postgres:/);
});
