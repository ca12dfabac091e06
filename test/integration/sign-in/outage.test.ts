import { expect, test, vi } from 'vitest';

import { checkLeaks } from '../../support/leak-check.ts';
import { openSignInHarness, startProtectedServer } from '../../support/sign-in.ts';

checkLeaks();

const HOUR = 3_600_000;

test('token refresh: limits requests during a long outage and keeps the tokens', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const before = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  const requests = (): number => server.log.of('as').filter(({ path }) => path === '/token').length;
  const sofar = requests();
  await server.control({ tokenStatus: 503 });
  const minutes = Array.from({ length: 20 }, (_, at) => at * 10);
  for (const minute of minutes) {
    desk.clock.offset = 2 * HOUR + minute * 60_000;
    const calls = Array.from({ length: 5 }, () => Promise.resolve(credentials.headers()));
    for (const call of await Promise.allSettled(calls))
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'UPSTREAM_UNAVAILABLE' } });
    // Also one after the other: a request right after a failure gets the same error.
    await expect(credentials.headers()).rejects.toThrow(/is kept.*503/s);
  }
  expect(requests() - sofar).toBe(minutes.length);
  expect(await desk.vault.load(desk.signInId)).toEqual(before);
  await server.control({ tokenStatus: 200 });
  desk.clock.offset += 60_000;
  expect(await credentials.headers()).toHaveProperty('Authorization');
  expect(server.log.of('refresh')).toHaveLength(1);
  expect(server.log.of('authorize')).toHaveLength(1);
});

test('token refresh: renews an expired token after an outage without a call', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  await server.control({ tokenStatus: 503 });
  desk.clock.offset = 2 * HOUR;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await expect(credentials.headers()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await server.control({ tokenStatus: 200 });
    desk.clock.offset += 30_000;
    vi.advanceTimersByTime(30_000);
  } finally {
    vi.useRealTimers();
  }
  await server.log.waitFor('refresh');
  expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
  expect(server.log.of('refresh')).toHaveLength(1);
});
