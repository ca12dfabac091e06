import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { openVault, signInId, tokens } from './token-vault.test-support.ts';
import type { TokenVault } from './token-vault.ts';

const again = { signInId, isFirst: false };

eachEngine((engine, newStore) => {
  test('token vault: shares tokens between processes until they are removed', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const [one, other] = [await openVault(where), await openVault(where)];
    await one.save(signInId, tokens('a'));
    await one.save(signInId, tokens('b'));
    await one.save({ ...signInId, caller: 'anna' }, tokens('c'));
    expect(await other.load(signInId)).toEqual(tokens('b'));
    expect([...(await other.savedAt([signInId.upstream])).keys()]).toHaveLength(2);
    expect(await other.listSignInIds()).toHaveLength(2);
    await other.remove(signInId);
    expect(await one.load(signInId)).toBeUndefined();
    expect(await one.load({ ...signInId, caller: 'anna' })).toEqual(tokens('c'));
  });

  test('token vault: stores client registrations and notes', async () => {
    const vault = await openVault(await newStore(temporaryFolder('vault')));
    const client = { client: { clientId: 'x', method: 'none' } as never, redirectUri: 'http://127.0.0.1/cb' };
    await vault.saveClient('https://login', signInId.upstream, client);
    await vault.saveClient('https://login', signInId.upstream, client);
    expect(await vault.loadClient('https://login', signInId.upstream)).toEqual(client);
    await vault.removeClient('https://login', signInId.upstream);
    expect(await vault.loadClient('https://login', signInId.upstream)).toBeUndefined();
    await vault.saveNote(signInId, { challenge: 'x' } as never);
    expect(await vault.loadNote(signInId)).toMatchObject({ challenge: 'x' });
    await vault.saveNote(signInId, undefined);
    expect(await vault.loadNote(signInId)).toBeUndefined();
  });

  test('token vault: lets one process refresh at a time, each from what the previous one saved', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const vaults = [await openVault(where), await openVault(where)];
    await vaults[0]!.save(signInId, tokens('0'));
    const refresh = (vault: TokenVault) =>
      vault.withRefreshLease(
        signInId,
        async (current) => vault.save(signInId, tokens(`${Number(current?.accessToken) + 1}`)),
        new AbortController().signal,
      );
    await Promise.all([...vaults, ...vaults, ...vaults].map(refresh));
    expect((await vaults[0]!.load(signInId))?.accessToken).toBe('6');
  });

  const withFullDisk = async (how: { saveRetryMs?: number } = {}) => {
    const where = await newStore(temporaryFolder('vault'));
    const disk = { isFull: false };
    const [vault, other] = [await openVault(where, { disk, ...how }), await openVault(where)];
    const saved = async () => (await other.load(signInId))?.accessToken;
    await vault.save(signInId, tokens('0'));
    disk.isFull = true;
    await expect(vault.replace(tokens('0'), tokens('1'), again)).rejects.toThrow('full');
    expect((await vault.load(signInId))?.accessToken).toBe('1');
    expect(await saved()).toBe('0');
    return { vault, other, disk, saved };
  };

  test('token vault: never overwrites newer tokens with tokens that a full disk rejected', async () => {
    const { vault, disk, saved } = await withFullDisk();
    disk.isFull = false;
    const replacing = vault.replace(tokens('1'), tokens('2'), again);
    const loaded = Array.from({ length: 5 }, async () => vault.load(signInId));
    await Promise.all([replacing, ...loaded]);
    for (let attempt = 0; attempt < 20; attempt++) await saved();
    expect(await saved()).toBe('2');
    expect((await vault.load(signInId))?.accessToken).toBe('2');
  });

  test('token vault: does not return spent tokens when the disk is full again', async () => {
    const { vault, disk, saved } = await withFullDisk();
    disk.isFull = false;
    await vault.load(signInId);
    await expect.poll(saved).toBe('1');
    disk.isFull = true;
    await expect(vault.replace(tokens('1'), tokens('2'), again)).rejects.toThrow('full');
    expect((await vault.load(signInId))?.accessToken).toBe('2');
    disk.isFull = false;
    await vault.load(signInId);
    await expect.poll(saved).toBe('2');
  });

  test('token vault: prefers a sign-in or sign-out by another process over refreshed tokens', async () => {
    const { vault, other, disk } = await withFullDisk();
    await other.save(signInId, tokens('somebody'));
    disk.isFull = false;
    await vault.replace(tokens('1'), tokens('2'), again);
    expect(await other.load(signInId)).toEqual(tokens('somebody'));
    expect(await vault.load(signInId)).toEqual(tokens('somebody'));
    await other.remove(signInId);
    await vault.replace(tokens('somebody'), tokens('3'), again);
    expect(await vault.load(signInId)).toBeUndefined();
  });

  test('token vault: returns the newest tokens after many refreshes on a full disk', async () => {
    const { vault } = await withFullDisk({ saveRetryMs: 3_600_000 });
    for (let nth = 1; nth < 12; nth++)
      await expect(vault.replace(tokens(`${nth}`), tokens(`${nth + 1}`), again)).rejects.toThrow('full');
    expect((await vault.load(signInId))?.accessToken).toBe('12');
  });

  test('token vault: does not return spent tokens when a sign-out cannot be saved', async () => {
    const { vault } = await withFullDisk();
    await expect(vault.remove(signInId)).rejects.toThrow('full');
    expect((await vault.load(signInId))?.accessToken).toBe('1');
  });

  test('token vault: saves unsaved tokens in the background once the disk has room', async () => {
    const { disk, saved } = await withFullDisk();
    await expect.poll(saved).toBe('0');
    disk.isFull = false;
    await expect.poll(saved).toBe('1');
  });

  test('token vault: saves unsaved tokens on close', async () => {
    const { vault, disk, saved } = await withFullDisk({ saveRetryMs: 3_600_000 });
    disk.isFull = false;
    await vault[Symbol.asyncDispose]();
    expect(await saved()).toBe('1');
  });

  // PostgreSQL releases the lease when the failing connection is lost.
  test.runIf(engine === 'sqlite')(
    'token vault: blocks a refresh by another process until spent tokens are saved',
    async () => {
      const { vault, other, disk } = await withFullDisk();
      const { signal } = new AbortController();
      const spending = vault.withRefreshLease(
        signInId,
        async () => vault.replace(tokens('1'), tokens('2'), again).catch(() => 'not saved'),
        signal,
      );
      // Our own process can take the lease again at once.
      expect(await spending).toBe('not saved');
      expect(await vault.withRefreshLease(signInId, async (current) => current?.accessToken, signal)).toBe(
        '2',
      );
      const next = other.withRefreshLease(signInId, async (current) => current?.accessToken, signal);
      const isFirst = await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))]);
      expect(isFirst).toBe('waits');
      disk.isFull = false;
      expect(await next).toBe('2');
    },
  );

  test('token vault: keeps the tokens of a seed that was spent on a full disk', async () => {
    const disk = { isFull: true };
    const where = await newStore(temporaryFolder('vault'));
    const [vault, other] = [await openVault(where, { disk }), await openVault(where)];
    const seed = (accessToken: string) => tokens(accessToken, { flow: 'seed', seed: 'hash' });
    await expect(vault.replace(seed('0'), seed('1'), { signInId, isFirst: true })).rejects.toThrow('full');
    expect(await vault.load(signInId)).toEqual(seed('1'));
    disk.isFull = false;
    await vault.load(signInId);
    await expect.poll(() => other.load(signInId)).toEqual(seed('1'));
    await other.remove(signInId);
    expect(await vault.load(signInId)).toBeUndefined();
  });

  test('stored sign-in state: ignores a metadata address that someone else wrote into the database', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const vault = await openVault(where);
    const database = await openDatabase(where);
    onTestFinished(() => database[Symbol.asyncDispose]());
    await vault.save(signInId, tokens('a'));
    const own = { resourceMetadata: 'https://server.example/metadata', scope: 'a' };
    await vault.saveNote(signInId, own);
    expect(await vault.loadNote(signInId)).toMatchObject(own);
    const plant = (body: string) => database.query.updateTable('sign_in_notes').set({ body }).execute();
    await plant(
      '{"resourceMetadata":"https://attacker.example/metadata","problem":"expired","scope":{"toString":1}}',
    );
    expect(await vault.loadNote(signInId)).toEqual({ problem: 'expired', at: expect.any(Number) as number });
    for (const body of ['x', 'null', '[]', '""']) {
      await plant(body);
      expect(await vault.loadNote(signInId)).toEqual({ at: expect.any(Number) as number });
    }
    // A note of another sign-in cannot be moved here.
    const other = { ...signInId, caller: 'anna' };
    await vault.saveNote(other, own);
    const { body } = await database.query
      .selectFrom('sign_in_notes')
      .select('body')
      .where('caller', '=', 'anna')
      .executeTakeFirstOrThrow();
    await plant(body);
    expect(await vault.loadNote(signInId)).toEqual({ at: expect.any(Number) as number });
    expect(await vault.loadNote(other)).toMatchObject(own);
  });
});
