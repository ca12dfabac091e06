import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { openDatabase } from '../../../src/core/storage/database.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openSignInHarness, rejectedRequest, startProtectedServer } from '../../support/sign-in.ts';

checkLeaks();

const HOUR = 3_600_000;

test('access token: is returned synchronously while it is valid', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  const first = await credentials.headers();
  expect(first).toEqual({ Authorization: `Bearer ${accessToken}` });
  expect(credentials.headers()).toBe(first);
});

test('token refresh: renews in the background before expiry while the old token is used', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  desk.clock.offset = 0.7 * HOUR;
  expect(credentials.headers()).toMatchObject({ Authorization: `Bearer ${accessToken}` });
  expect(server.log.of('refresh')).toEqual([]);
  desk.clock.offset = 0.85 * HOUR;
  expect(credentials.headers()).toMatchObject({ Authorization: `Bearer ${accessToken}` });
  await eventually(async () => {
    expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
  });
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('token refresh: renews an expired token once for all waiting requests', async () => {
  await using server = await startProtectedServer({ slowTokenMs: 50 });
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  desk.clock.offset = 2 * HOUR;
  const credentials = desk.credentials();
  const all = await Promise.all(Array.from({ length: 12 }, () => Promise.resolve(credentials.headers())));
  expect(new Set(all.map((headers) => headers['Authorization'])).size).toBe(1);
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('token refresh: keeps using a new token that cannot be saved and saves it later', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  const { query } = await openDatabase({ stateDir: desk.stateDir });
  // Simulates a full disk for one table.
  await sql`CREATE TRIGGER full BEFORE UPDATE ON sign_ins BEGIN SELECT RAISE(FAIL, 'full'); END`.execute(
    query,
  );
  for (const hours of [2, 4]) {
    desk.clock.offset = hours * HOUR;
    expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
  }
  expect(server.log.of('refresh')).toHaveLength(2);
  await sql`DROP TRIGGER full`.execute(query);
  await query.destroy();
  const headers = await credentials.headers();
  await desk.vault.load(desk.signInId);
  await using next = openSignInHarness(server.url, desk.stateDir);
  await eventually(async () => {
    const saved = await next.vault.load(next.signInId);
    expect(headers).toEqual({ Authorization: `Bearer ${saved?.accessToken}` });
  });
  desk.clock.offset = 6 * HOUR;
  await credentials.headers();
  expect(server.log.of('refresh-reused')).toEqual([]);
});

test('token refresh: renews a rejected token although the clock was set back', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  desk.clock.offset = 2 * HOUR;
  await credentials.headers();
  desk.clock.offset = 0;
  const refused = rejectedRequest({ since: performance.now() });
  expect(await credentials.handleRefusal(refused)).toBe('try-again');
  expect(server.log.of('refresh')).toHaveLength(2);
});

test('token refresh: renews a rejected token once for all rejected requests', async () => {
  await using server = await startProtectedServer({ slowTokenMs: 50 });
  await using desk = openSignInHarness(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  const since = performance.now() - 1;
  const judged = Array.from({ length: 12 }, async () => {
    const verdict = await credentials.handleRefusal(rejectedRequest({ since }));
    // A retry uses a new token.
    expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
    return verdict;
  });
  const verdicts = await Promise.all(judged);
  expect(new Set(verdicts)).toEqual(new Set(['try-again']));
  // A late rejection is about the old token, too.
  expect(await credentials.handleRefusal(rejectedRequest({ since }))).toBe('try-again');
  expect(server.log.of('refresh')).toHaveLength(1);
  expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
});

test.each([
  ['without a new refresh token', { refreshAnswersHaveRefreshToken: false, rotate: false }],
  ['with a new refresh token', {}],
])('token refresh: works again after a response %s', async (_which, behaviour) => {
  await using server = await startProtectedServer(behaviour);
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  for (const hours of [2, 4, 6]) {
    desk.clock.offset = hours * HOUR;
    await credentials.headers();
  }
  expect(server.log.of('refresh')).toHaveLength(3);
  expect(server.log.of('refused')).toEqual([]);
});

test.each([
  ['returns 503', { tokenStatus: 503 }],
  ['returns invalid content', { tokenAnswer: 'nonsense' }],
  ['redirects elsewhere', { tokenRedirect: 'http://127.0.0.1:9/' }],
])('token refresh: keeps the tokens when the authorization server %s', async (_what, trouble) => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const before = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  await server.control(trouble);
  desk.clock.offset = 2 * HOUR;
  await expect(credentials.headers()).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/is kept/),
  });
  expect(await credentials.handleRefusal(rejectedRequest())).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(await desk.vault.load(desk.signInId)).toEqual(before);
  await server.control({ tokenStatus: 200, tokenAnswer: undefined, tokenRedirect: undefined });
});

test('token refresh: keeps the tokens while the authorization server is unreachable', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const before = await desk.signIn();
  const gone = { ...before, server: { ...before.server!, tokenEndpoint: 'http://127.0.0.1:9/token' } };
  await desk.vault.save(desk.signInId, gone);
  desk.clock.offset = 2 * HOUR;
  await expect(desk.credentials().headers()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect((await desk.vault.load(desk.signInId))?.refreshToken).toBe(before.refreshToken);
  await desk.vault.save(desk.signInId, before);
  await expect(desk.credentials().headers()).resolves.toHaveProperty('Authorization');
});

test('invalid grant: requires a sign-in, reports the server error and is not retried', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await server.control({ act: 'revoke-all' });
  await credentials.headers();
  const verdict = await credentials.handleRefusal(rejectedRequest());
  expect(verdict).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(
      /trunkline login it.*The refresh token is not valid any more\. \(invalid_grant\)/s,
    ),
  });
  await credentials.handleRefusal(rejectedRequest());
  await credentials.handleRefusal(rejectedRequest());
  expect(server.log.of('refresh')).toHaveLength(1);
  expect((await desk.vault.loadNote(desk.signInId))?.problem).toContain('invalid_grant');
});

test('token refresh: reports a reused refresh token', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const first = await desk.signIn();
  desk.clock.offset = 2 * HOUR;
  await desk.credentials().headers();
  // As in a copy of the state on another machine.
  await desk.vault.save(desk.signInId, first);
  await expect(desk.credentials().headers()).rejects.toThrow(/used twice; everything is revoked/);
  expect(server.log.of('refresh-reused')).toHaveLength(1);
});

test('rejected token: requires a sign-in when it is rejected even after a refresh', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  expect(await credentials.handleRefusal(rejectedRequest())).toBe('try-again');
  const challenge = 'Bearer error="invalid_token", error_description="Wrong audience."';
  expect(await credentials.handleRefusal(rejectedRequest({ isRepeated: true, challenge }))).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(/no longer accepts the saved token: Wrong audience/),
  });
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('access token: is sent only to the URL it was issued for', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  expect(await desk.credentials({ url: 'http://127.0.0.1:9/mcp' }).headers()).toEqual({});
  expect(await desk.credentials().headers()).toHaveProperty('Authorization');
});

test('access token: is picked up when another process saves it', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const credentials = desk.credentials();
  let isTold = false;
  credentials.onSignedIn(() => (isTold = true));
  expect(credentials.headers()).toEqual({});
  expect(await credentials.handleRefusal(rejectedRequest())).toMatchObject({ code: 'UPSTREAM_NEEDS_AUTH' });
  await using elsewhere = openSignInHarness(server.url, desk.stateDir);
  await elsewhere.signIn();
  await eventually(() => expect(isTold).toBe(true), { withinMs: 3000 });
  expect(await credentials.headers()).toHaveProperty('Authorization');
});

test('insufficient scope: requests old and new scopes at the next sign-in', async () => {
  await using server = await startProtectedServer({ challengeScope: 'read' });
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  const challenge = 'Bearer error="insufficient_scope", scope="write"';
  expect(await credentials.handleRefusal(rejectedRequest({ status: 403, challenge }))).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(/trunkline login it.*the scope "write"/s),
  });
  const { scope } = await desk.signIn();
  expect(scope).toBe('read write');
  expect(await desk.vault.loadNote(desk.signInId)).toBeUndefined();
});

test('token seed: is used, refreshed once and replaced by a different seed', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const { accessToken, refreshToken, client, server: issued } = await desk.signIn();
  await desk.vault.remove(desk.signInId);
  expect(await desk.credentials({ seed: accessToken }).headers()).toEqual({
    Authorization: `Bearer ${accessToken}`,
  });
  const seed = JSON.stringify({
    refresh_token: refreshToken,
    token_endpoint: issued?.tokenEndpoint,
    issuer: issued?.issuer,
    client_id: client?.id,
  });
  const renewed = await desk.credentials({ seed }).headers();
  expect(renewed).toHaveProperty('Authorization');
  expect(server.log.of('refresh')).toHaveLength(1);
  // The next process has the same, already used seed, and uses the stored tokens instead.
  expect(await desk.credentials({ seed }).headers()).toEqual(renewed);
  expect(await desk.credentials({ seed: 'another' }).headers()).toEqual({ Authorization: 'Bearer another' });
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('token refresh: renews in time without a call', async () => {
  await using server = await startProtectedServer({ tokenTtl: 2 });
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  await desk.credentials().headers();
  await server.log.waitFor('refresh');
  expect(server.log.of('refresh-reused')).toEqual([]);
});

test('invalid grant: stops refreshing, and the access token is used until it expires', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  await server.control({ act: 'revoke-all' });
  for (const part of [0.85, 0.9, 0.95]) {
    desk.clock.offset = part * HOUR;
    expect(credentials.headers()).toEqual({ Authorization: `Bearer ${accessToken}` });
    await eventually(async () =>
      expect((await desk.vault.loadNote(desk.signInId))?.problem).toContain('invalid_grant'),
    );
  }
  expect(server.log.of('refresh')).toHaveLength(1);
  desk.clock.offset = 2 * HOUR;
  await expect(credentials.headers()).rejects.toMatchObject({ code: 'UPSTREAM_NEEDS_AUTH' });
  expect(server.log.of('refresh')).toHaveLength(1);
});
