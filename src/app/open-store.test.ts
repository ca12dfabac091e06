import { expect, test } from 'vitest';

import { validateConfig } from '../config/validate-config.ts';
import type { Fingerprint } from '../core/ids.ts';
import { resolveStoreLocation } from './open-store.ts';

function placeOf(storage: object, env: Readonly<Record<string, string>> = {}) {
  const text = JSON.stringify({ storage });
  const snapshot = validateConfig({ file: '/c/config.jsonc', text, revision: 'r' as Fingerprint });
  return resolveStoreLocation({ stateDir: '/s', env, home: '/h' }, snapshot);
}

test('store: uses the state folder when no URL is configured', async () => {
  expect(await placeOf({})).toEqual({ stateDir: '/s' });
});

test('store: resolves references in the URL and applies the configured limits', async () => {
  const place = await placeOf(
    { url: '${env:PGURL}', poolSize: 3, connectTimeout: '1s' },
    { PGURL: 'postgres://me:open@db.example.com:5433/team' },
  );
  expect(place.server).toEqual({
    url: 'postgres://me:open@db.example.com:5433/team',
    poolSize: 3,
    connectTimeoutMs: 1e3,
    statementTimeoutMs: 15e3,
  });
});

test('store: takes user and password from the environment when the URL has none', async () => {
  const env = { PGUSER: 'me', PGPASSWORD: 'open&' };
  expect((await placeOf({ url: 'postgres://db/team' }, env)).server?.url).toBe(
    'postgres://db/team?user=me&password=open%26',
  );
  expect((await placeOf({ url: 'postgres://you:shut@db/team' }, env)).server?.url).toBe(
    'postgres://you:shut@db/team',
  );
});

test.each([
  ['a URL whose variable is not set', '${env:PGURL}', {}, 'SECRET_MISSING'],
  [
    'a URL whose variable is not a postgres URL',
    '${env:PGURL}',
    { PGURL: 'mysql://open-sesame@x' },
    'CONFIG_INVALID',
  ],
])('store: rejects %s without revealing it', async (_which, url, env, code) => {
  const refused = placeOf({ url }, env);
  await expect(refused).rejects.toMatchObject({ code });
  await expect(refused).rejects.not.toThrow('open-sesame');
});

test('store: rejects a literal URL that is not a postgres URL when the config is validated', () => {
  expect(() =>
    validateConfig({
      file: '/c',
      text: '{"storage": {"url": "mysql://sesame"}}',
      revision: 'r' as Fingerprint,
    }),
  ).toThrow(/"storage.url" must be a URL that begins with postgres:/);
});
