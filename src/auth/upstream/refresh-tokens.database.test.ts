import { expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { silentLogger } from '../../observability/log.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { refreshTokens } from './refresh-tokens.ts';
import type { StoredTokens } from './stored-tokens.ts';
import { OneTimeTokens, openVault, signInId, tokens } from './token-vault.test-support.ts';
import type { TokenVault } from './token-vault.ts';

eachEngine((engine, newStore) => {
  const processes = async (disk = { isFull: false }) => {
    const where = await newStore(temporaryFolder('refresh'));
    const server = new OneTimeTokens();
    const [own, other] = [await openVault(where, { disk, saveRetryMs: 200 }), await openVault(where)];
    const { signal } = new AbortController();
    const refresh = async (vault: TokenVault, stale: StoredTokens) =>
      refreshTokens(stale, {
        vault,
        signInId,
        fetch: server.fetch,
        now: Date.now,
        log: silentLogger,
        signal,
      });
    return { where, server, own, other, refresh };
  };

  test('token refresh: replaces tokens of an old seed when the seed changes and spends each seed once', async () => {
    const { server, own, other, refresh } = await processes();
    const seed = (name: string) => tokens('', { flow: 'seed', seed: name, refreshToken: name });
    await refresh(own, seed('one'));
    expect((await own.load(signInId))?.seed).toBe('one');
    const refreshed = await refresh(other, seed('two'));
    expect(await other.load(signInId)).toEqual(refreshed);
    expect(await refresh(other, seed('two'))).toEqual(refreshed);
    expect(server.reused).toEqual([]);
  });

  test('token refresh: keeps the newest refresh token when the access token stays the same', async () => {
    const { server, own, other, refresh } = await processes();
    server.keepsAccess = true;
    await own.save(signInId, tokens('always', { refreshToken: 'r' }));
    await refresh(own, tokens('always', { refreshToken: 'r' }));
    await refresh(other, (await other.load(signInId))!);
    const at = await own.savedAt([signInId.upstream]);
    expect((await own.load(signInId))?.refreshToken).toBe('r++');
    await own[Symbol.asyncDispose]();
    expect(await own.savedAt([signInId.upstream])).toEqual(at);
    expect((await other.load(signInId))?.refreshToken).toBe('r++');
    expect(server.reused).toEqual([]);
  });

  test('token refresh: keeps a sign-in that happens while the refresh is refused', async () => {
    const { server, own, other, refresh } = await processes();
    await own.save(signInId, tokens('0'));
    server.isRevoked = true;
    server.meanwhile = () => other.save(signInId, tokens('somebody'));
    await expect(refresh(own, tokens('0'))).rejects.toThrow();
    expect(await own.load(signInId)).toEqual(tokens('somebody'));
    expect(await own.loadNote(signInId)).toBeUndefined();
  });

  test('token refresh: keeps a sign-out that happens while the refresh is refused', async () => {
    const { server, own, other, refresh } = await processes();
    await own.save(signInId, tokens('0'));
    server.isRevoked = true;
    server.meanwhile = () => other.remove(signInId);
    await expect(refresh(own, tokens('0'))).rejects.toThrow();
    expect(await own.load(signInId)).toBeUndefined();
    expect(await own.loadNote(signInId)).toBeUndefined();
  });

  test('token refresh: prefers the tokens of a sign-in that happens meanwhile', async () => {
    const { server, own, other, refresh } = await processes();
    await own.save(signInId, tokens('0'));
    server.meanwhile = () => other.save(signInId, tokens('somebody'));
    expect(await refresh(own, tokens('0'))).toEqual(tokens('somebody'));
    expect(await other.load(signInId)).toEqual(tokens('somebody'));
  });

  test.each(['browser', 'seed'] as const)(
    'token refresh: keeps a sign-out (%s) that happens meanwhile',
    async (flow) => {
      const { server, own, other, refresh } = await processes();
      await other.save(signInId, tokens('0', { flow, seed: 'one' }));
      server.meanwhile = () => other.remove(signInId);
      await expect(refresh(own, tokens('0', { flow, seed: 'one' }))).rejects.toThrow('removed by a sign-out');
      expect(await own.load(signInId)).toBeUndefined();
    },
  );

  test('token refresh: never sends a refused refresh token again', async () => {
    const { server, own, other, refresh } = await processes();
    await own.save(signInId, tokens('0'));
    server.isRevoked = true;
    await expect(refresh(own, tokens('0'))).rejects.toThrow();
    expect(await other.load(signInId)).toMatchObject({ accessToken: '0' });
    expect(await other.load(signInId)).not.toHaveProperty('refreshToken');
    expect(await other.loadNote(signInId)).toHaveProperty('problem');
  });

  test.runIf(engine === 'sqlite')(
    'token refresh: waits for another process that still has to save its refreshed tokens',
    async () => {
      const disk = { isFull: false };
      const { where, server, own, other, refresh } = await processes(disk);
      await own.save(signInId, tokens('0'));
      disk.isFull = true;
      await refresh(own, tokens('0'));
      // Expire the lease.
      await using database = await openDatabase(where);
      const { query } = database;
      const held = await query.selectFrom('leases').selectAll().executeTakeFirstOrThrow();
      await query
        .updateTable('leases')
        .set({ owner: held.owner.replace(/[^/]*$/, '1'), until: 1 })
        .execute();
      disk.isFull = false;
      expect((await refresh(other, tokens('0'))).accessToken).toBe('r-0!');
      expect(server.reused).toEqual([]);
    },
  );
});
