import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { openDatabase } from '../../src/storage/database.ts';
import { eventually } from '../support/eventually.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { openDesk, refusal, startProtectedServer } from '../support/sign-in.ts';

checkLeaks();

const HOUR = 3_600_000;

test('a token is sent as it is while it is good, without a promise', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  const first = await credentials.headers();
  expect(first).toEqual({ Authorization: `Bearer ${accessToken}` });
  expect(credentials.headers()).toBe(first);
});

test('it is renewed before it expires, while the old one is still used', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
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

test('an expired one is renewed first, once for all who wait', async () => {
  await using server = await startProtectedServer({ slowTokenMs: 50 });
  await using desk = openDesk(server.url);
  await desk.signIn();
  desk.clock.offset = 2 * HOUR;
  const credentials = desk.credentials();
  const all = await Promise.all(Array.from({ length: 12 }, () => Promise.resolve(credentials.headers())));
  expect(new Set(all.map((headers) => headers['Authorization'])).size).toBe(1);
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('one that could not be saved is used and renewed all the same, and saved when that is possible again', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  const { query } = await openDatabase({ stateDir: desk.stateDir });
  // As on a full disk, but for one table.
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
  await desk.vault.load(desk.place);
  await using next = openDesk(server.url, desk.stateDir);
  await eventually(async () => {
    const saved = await next.vault.load(next.place);
    expect(headers).toEqual({ Authorization: `Bearer ${saved?.accessToken}` });
  });
  desk.clock.offset = 6 * HOUR;
  await credentials.headers();
  expect(server.log.of('refresh-reused')).toEqual([]);
});

test('a refused one is renewed although the clock was set back since the last time', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  desk.clock.offset = 2 * HOUR;
  await credentials.headers();
  desk.clock.offset = 0;
  const refused = refusal({ since: performance.now() });
  expect(await credentials.refused(refused)).toBe('try-again');
  expect(server.log.of('refresh')).toHaveLength(2);
});

test('a refused one is renewed once, for all who were refused', async () => {
  await using server = await startProtectedServer({ slowTokenMs: 50 });
  await using desk = openDesk(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  const since = performance.now() - 1;
  const judged = Array.from({ length: 12 }, async () => {
    const verdict = await credentials.refused(refusal({ since }));
    // Whoever may try again has something new to try it with.
    expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
    return verdict;
  });
  const verdicts = await Promise.all(judged);
  expect(new Set(verdicts)).toEqual(new Set(['try-again']));
  // One that comes late was sent with the old token, too.
  expect(await credentials.refused(refusal({ since }))).toBe('try-again');
  expect(server.log.of('refresh')).toHaveLength(1);
  expect(await credentials.headers()).not.toMatchObject({ Authorization: `Bearer ${accessToken}` });
});

test.each([
  ['that has no new refresh token', { refreshAnswersHaveRefreshToken: false, rotate: false }],
  ['that has a new one', {}],
])('after an answer %s the next renewal works', async (_which, behaviour) => {
  await using server = await startProtectedServer(behaviour);
  await using desk = openDesk(server.url);
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
  ['answers 503', { tokenStatus: 503 }],
  ['answers nonsense', { tokenAnswer: 'nonsense' }],
  ['sends us elsewhere', { tokenRedirect: 'http://127.0.0.1:9/' }],
])('an authorization server that %s costs no good tokens', async (_what, trouble) => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const before = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  await server.control(trouble);
  desk.clock.offset = 2 * HOUR;
  await expect(credentials.headers()).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/is kept/),
  });
  expect(await credentials.refused(refusal())).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(await desk.vault.load(desk.place)).toEqual(before);
  await server.control({ tokenStatus: 200, tokenAnswer: undefined, tokenRedirect: undefined });
});

test('one that cannot be reached costs none either, and everything works again afterwards', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const before = await desk.signIn();
  const gone = { ...before, server: { ...before.server!, tokenEndpoint: 'http://127.0.0.1:9/token' } };
  await desk.vault.save(desk.place, gone);
  desk.clock.offset = 2 * HOUR;
  await expect(desk.credentials().headers()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect((await desk.vault.load(desk.place))?.refreshToken).toBe(before.refreshToken);
  await desk.vault.save(desk.place, before);
  await expect(desk.credentials().headers()).resolves.toHaveProperty('Authorization');
});

test('a dead grant leads to a person, with the words of the server, and is not asked for again', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await server.control({ act: 'revoke-all' });
  await credentials.headers();
  const verdict = await credentials.refused(refusal());
  expect(verdict).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(
      /trunkline login it.*The refresh token is not valid any more\. \(invalid_grant\)/s,
    ),
  });
  await credentials.refused(refusal());
  await credentials.refused(refusal());
  expect(server.log.of('refresh')).toHaveLength(1);
  expect((await desk.vault.noted(desk.place))?.problem).toContain('invalid_grant');
});

test('a reused refresh token is seen for what it is', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const first = await desk.signIn();
  desk.clock.offset = 2 * HOUR;
  await desk.credentials().headers();
  // As a copy of the state on another machine would have it.
  await desk.vault.save(desk.place, first);
  await expect(desk.credentials().headers()).rejects.toThrow(/used twice; everything is revoked/);
  expect(server.log.of('refresh-reused')).toHaveLength(1);
});

test('a token that is refused even after its renewal leads to a person', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  expect(await credentials.refused(refusal())).toBe('try-again');
  const challenge = 'Bearer error="invalid_token", error_description="Wrong audience."';
  expect(await credentials.refused(refusal({ isRepeated: true, challenge }))).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(/does not take the saved token any more: Wrong audience/),
  });
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('tokens stay with the address they are for', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  await desk.signIn();
  expect(await desk.credentials({ url: 'http://127.0.0.1:9/mcp' }).headers()).toEqual({});
  expect(await desk.credentials().headers()).toHaveProperty('Authorization');
});

test('what somebody saves elsewhere is noticed within a second', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const credentials = desk.credentials();
  let isTold = false;
  credentials.onSignedIn(() => (isTold = true));
  expect(credentials.headers()).toEqual({});
  expect(await credentials.refused(refusal())).toMatchObject({ code: 'UPSTREAM_NEEDS_AUTH' });
  await using elsewhere = openDesk(server.url, desk.stateDir);
  await elsewhere.signIn();
  await eventually(() => expect(isTold).toBe(true), { withinMs: 3000 });
  expect(await credentials.headers()).toHaveProperty('Authorization');
});

test('more than was granted is asked for at the next sign-in, with what there was', async () => {
  await using server = await startProtectedServer({ challengeScope: 'read' });
  await using desk = openDesk(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  const challenge = 'Bearer error="insufficient_scope", scope="write"';
  expect(await credentials.refused(refusal({ status: 403, challenge }))).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(/trunkline login it.*the scope "write"/s),
  });
  const { scope } = await desk.signIn();
  expect(scope).toBe('read write');
  expect(await desk.vault.noted(desk.place)).toBeUndefined();
});

test('a seed of the environment is used, renewed, and forgotten for a newer one', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const { accessToken, refreshToken, client, server: issued } = await desk.signIn();
  await desk.vault.forget(desk.place);
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
  // The next process has the same seed, which is spent, and what became of it.
  expect(await desk.credentials({ seed }).headers()).toEqual(renewed);
  expect(await desk.credentials({ seed: 'another' }).headers()).toEqual({ Authorization: 'Bearer another' });
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('a token is renewed in time although nobody calls', async () => {
  await using server = await startProtectedServer({ tokenTtl: 2 });
  await using desk = openDesk(server.url);
  await desk.signIn();
  await desk.credentials().headers();
  await server.log.waitFor('refresh');
  expect(server.log.of('refresh-reused')).toEqual([]);
});

test('a grant that died before its token is asked for once, and the token is used to its end', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const { accessToken } = await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  await server.control({ act: 'revoke-all' });
  for (const part of [0.85, 0.9, 0.95]) {
    desk.clock.offset = part * HOUR;
    expect(credentials.headers()).toEqual({ Authorization: `Bearer ${accessToken}` });
    await eventually(async () =>
      expect((await desk.vault.noted(desk.place))?.problem).toContain('invalid_grant'),
    );
  }
  expect(server.log.of('refresh')).toHaveLength(1);
  desk.clock.offset = 2 * HOUR;
  await expect(credentials.headers()).rejects.toMatchObject({ code: 'UPSTREAM_NEEDS_AUTH' });
  expect(server.log.of('refresh')).toHaveLength(1);
});
