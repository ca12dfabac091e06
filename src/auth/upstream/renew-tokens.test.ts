import { expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import { renewTokens } from './renew-tokens.ts';
import type { StoredTokens } from './stored-tokens.ts';
import { OneTimeTokens, openVault, place, tokens } from './token-vault.test-support.ts';
import type { TokenVault } from './token-vault.ts';

eachEngine((engine, newStore) => {
  const processes = async (disk = { isFull: false }) => {
    const where = await newStore(temporaryFolder('renew'));
    const server = new OneTimeTokens();
    const [own, other] = [await openVault(where, { disk, saveAgainMs: 200 }), await openVault(where)];
    const { signal } = new AbortController();
    const renew = async (vault: TokenVault, stale: StoredTokens) =>
      renewTokens(stale, { vault, place, fetch: server.fetch, now: Date.now, log: silentLogger, signal });
    return { where, server, own, other, renew };
  };

  test('what a changed seed becomes replaces what the one before became, and no seed is spent twice', async () => {
    const { server, own, other, renew } = await processes();
    const seed = (name: string) => tokens('', { flow: 'seed', seed: name, refreshToken: name });
    await renew(own, seed('one'));
    expect((await own.load(place))?.seed).toBe('one');
    const renewed = await renew(other, seed('two'));
    expect(await other.load(place)).toEqual(renewed);
    expect(await renew(other, seed('two'))).toEqual(renewed);
    expect(server.reused).toEqual([]);
  });

  test('of a server that gives the same access token again the newest refresh token counts, and looking writes nothing', async () => {
    const { server, own, other, renew } = await processes();
    server.keepsAccess = true;
    await own.save(place, tokens('always', { refreshToken: 'r' }));
    await renew(own, tokens('always', { refreshToken: 'r' }));
    await renew(other, (await other.load(place))!);
    const at = await own.savedAt([place.upstream]);
    expect((await own.load(place))?.refreshToken).toBe('r++');
    await own[Symbol.asyncDispose]();
    expect(await own.savedAt([place.upstream])).toEqual(at);
    expect((await other.load(place))?.refreshToken).toBe('r++');
    expect(server.reused).toEqual([]);
  });

  test('who signs in while a renewal is refused stays signed in', async () => {
    const { server, own, other, renew } = await processes();
    await own.save(place, tokens('0'));
    server.isOver = true;
    server.meanwhile = () => other.save(place, tokens('somebody'));
    await expect(renew(own, tokens('0'))).rejects.toThrow();
    expect(await own.load(place)).toEqual(tokens('somebody'));
    expect(await own.noted(place)).toBeUndefined();
  });

  test('who signs out while a renewal is refused stays signed out', async () => {
    const { server, own, other, renew } = await processes();
    await own.save(place, tokens('0'));
    server.isOver = true;
    server.meanwhile = () => other.forget(place);
    await expect(renew(own, tokens('0'))).rejects.toThrow();
    expect(await own.load(place)).toBeUndefined();
    expect(await own.noted(place)).toBeUndefined();
  });

  test('who signs in during a renewal is who the gateway goes on as', async () => {
    const { server, own, other, renew } = await processes();
    await own.save(place, tokens('0'));
    server.meanwhile = () => other.save(place, tokens('somebody'));
    expect(await renew(own, tokens('0'))).toEqual(tokens('somebody'));
    expect(await other.load(place)).toEqual(tokens('somebody'));
  });

  test.each(['browser', 'seed'] as const)(
    'who signs out of a sign-in (%s) during its renewal stays signed out',
    async (flow) => {
      const { server, own, other, renew } = await processes();
      await other.save(place, tokens('0', { flow, seed: 'one' }));
      server.meanwhile = () => other.forget(place);
      await expect(renew(own, tokens('0', { flow, seed: 'one' }))).rejects.toThrow('Somebody signed out');
      expect(await own.load(place)).toBeUndefined();
    },
  );

  test('a refresh token that is refused is not offered again', async () => {
    const { server, own, other, renew } = await processes();
    await own.save(place, tokens('0'));
    server.isOver = true;
    await expect(renew(own, tokens('0'))).rejects.toThrow();
    expect(await other.load(place)).toMatchObject({ accessToken: '0' });
    expect(await other.load(place)).not.toHaveProperty('refreshToken');
    expect(await other.noted(place)).toHaveProperty('problem');
  });

  test.runIf(engine === 'sqlite')(
    'another process waits for the last word of one that could not save what it had, however long that took',
    async () => {
      const disk = { isFull: false };
      const { where, server, own, other, renew } = await processes(disk);
      await own.save(place, tokens('0'));
      disk.isFull = true;
      await renew(own, tokens('0'));
      // The time of its lease is over.
      await using database = await openDatabase(where);
      const { query } = database;
      const held = await query.selectFrom('leases').selectAll().executeTakeFirstOrThrow();
      await query
        .updateTable('leases')
        .set({ owner: held.owner.replace(/[^/]*$/, '1'), until: 1 })
        .execute();
      disk.isFull = false;
      expect((await renew(other, tokens('0'))).accessToken).toBe('r-0!');
      expect(server.reused).toEqual([]);
    },
  );
});
