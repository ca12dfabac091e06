import { expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openVault, place, tokens } from './token-vault.test-support.ts';
import type { TokenVault } from './token-vault.ts';

const again = { place, isFirst: false };

eachEngine((engine, newStore) => {
  test('what one process saves another one with the same key loads, until it is forgotten', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const [one, other] = [await openVault(where), await openVault(where)];
    await one.save(place, tokens('a'));
    await one.save(place, tokens('b'));
    await one.save({ ...place, caller: 'anna' }, tokens('c'));
    expect(await other.load(place)).toEqual(tokens('b'));
    expect([...(await other.savedAt([place.upstream])).keys()]).toHaveLength(2);
    expect(await other.places()).toHaveLength(2);
    await other.forget(place);
    expect(await one.load(place)).toBeUndefined();
    expect(await one.load({ ...place, caller: 'anna' })).toEqual(tokens('c'));
  });

  test('clients and notes are kept beside', async () => {
    const vault = await openVault(await newStore(temporaryFolder('vault')));
    const client = { client: { clientId: 'x', method: 'none' } as never, redirectUri: 'http://127.0.0.1/cb' };
    await vault.saveClient('https://login', place.upstream, client);
    await vault.saveClient('https://login', place.upstream, client);
    expect(await vault.loadClient('https://login', place.upstream)).toEqual(client);
    await vault.forgetClient('https://login', place.upstream);
    expect(await vault.loadClient('https://login', place.upstream)).toBeUndefined();
    await vault.note(place, { challenge: 'x' } as never);
    expect(await vault.noted(place)).toMatchObject({ challenge: 'x' });
    await vault.note(place, undefined);
    expect(await vault.noted(place)).toBeUndefined();
  });

  test('one at a time renews, and the next finds what the one before saved', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const vaults = [await openVault(where), await openVault(where)];
    await vaults[0]!.save(place, tokens('0'));
    const renew = (vault: TokenVault) =>
      vault.refreshing(
        place,
        async (current) => vault.save(place, tokens(`${Number(current?.accessToken) + 1}`)),
        new AbortController().signal,
      );
    await Promise.all([...vaults, ...vaults, ...vaults].map(renew));
    expect((await vaults[0]!.load(place))?.accessToken).toBe('6');
  });

  const withFullDisk = async (how: { saveAgainMs?: number } = {}) => {
    const where = await newStore(temporaryFolder('vault'));
    const disk = { isFull: false };
    const [vault, other] = [await openVault(where, { disk, ...how }), await openVault(where)];
    const saved = async () => (await other.load(place))?.accessToken;
    await vault.save(place, tokens('0'));
    disk.isFull = true;
    await expect(vault.replace(tokens('0'), tokens('1'), again)).rejects.toThrow('full');
    expect((await vault.load(place))?.accessToken).toBe('1');
    expect(await saved()).toBe('0');
    return { vault, other, disk, saved };
  };

  test('what a full disk did not take is never saved over what it was renewed to since', async () => {
    const { vault, disk, saved } = await withFullDisk();
    disk.isFull = false;
    const renewed = vault.replace(tokens('1'), tokens('2'), again);
    const loaded = Array.from({ length: 5 }, async () => vault.load(place));
    await Promise.all([renewed, ...loaded]);
    for (let look = 0; look < 20; look++) await saved();
    expect(await saved()).toBe('2');
    expect((await vault.load(place))?.accessToken).toBe('2');
  });

  test('what was saved late and spent since is not used again when the disk is full again', async () => {
    const { vault, disk, saved } = await withFullDisk();
    disk.isFull = false;
    await vault.load(place);
    await expect.poll(saved).toBe('1');
    disk.isFull = true;
    await expect(vault.replace(tokens('1'), tokens('2'), again)).rejects.toThrow('full');
    expect((await vault.load(place))?.accessToken).toBe('2');
    disk.isFull = false;
    await vault.load(place);
    await expect.poll(saved).toBe('2');
  });

  test('who signed in meanwhile knows better than what was renewed', async () => {
    const { vault, other, disk } = await withFullDisk();
    await other.save(place, tokens('somebody'));
    disk.isFull = false;
    await vault.replace(tokens('1'), tokens('2'), again);
    expect(await other.load(place)).toEqual(tokens('somebody'));
    expect(await vault.load(place)).toEqual(tokens('somebody'));
    await other.forget(place);
    await vault.replace(tokens('somebody'), tokens('3'), again);
    expect(await vault.load(place)).toBeUndefined();
  });

  test('however often it is renewed while the disk is full, what is saved is known to be spent', async () => {
    const { vault } = await withFullDisk({ saveAgainMs: 3_600_000 });
    for (let nth = 1; nth < 12; nth++)
      await expect(vault.replace(tokens(`${nth}`), tokens(`${nth + 1}`), again)).rejects.toThrow('full');
    expect((await vault.load(place))?.accessToken).toBe('12');
  });

  test('a sign-out that a full disk does not take brings nothing back that is spent', async () => {
    const { vault } = await withFullDisk();
    await expect(vault.forget(place)).rejects.toThrow('full');
    expect((await vault.load(place))?.accessToken).toBe('1');
  });

  test('what could not be saved is saved as soon as it can be, although nobody asks for it', async () => {
    const { disk, saved } = await withFullDisk();
    await expect.poll(saved).toBe('0');
    disk.isFull = false;
    await expect.poll(saved).toBe('1');
  });

  test('what could not be saved is saved at the latest when the vault closes', async () => {
    const { vault, disk, saved } = await withFullDisk({ saveAgainMs: 3_600_000 });
    disk.isFull = false;
    await vault[Symbol.asyncDispose]();
    expect(await saved()).toBe('1');
  });

  // A server forgets who held a lease when the connection is lost on which nothing can be saved.
  test.runIf(engine === 'sqlite')(
    'nobody renews what another process has spent and could not save yet',
    async () => {
      const { vault, other, disk } = await withFullDisk();
      const { signal } = new AbortController();
      const spending = vault.refreshing(
        place,
        async () => vault.replace(tokens('1'), tokens('2'), again).catch(() => 'not saved'),
        signal,
      );
      // It can be had, which says that its turn is over for us.
      expect(await spending).toBe('not saved');
      expect(await vault.refreshing(place, async (current) => current?.accessToken, signal)).toBe('2');
      const next = other.refreshing(place, async (current) => current?.accessToken, signal);
      const isFirst = await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))]);
      expect(isFirst).toBe('waits');
      disk.isFull = false;
      expect(await next).toBe('2');
    },
  );

  test('a seed that is spent while the disk is full is not taken for one that was never used', async () => {
    const disk = { isFull: true };
    const where = await newStore(temporaryFolder('vault'));
    const [vault, other] = [await openVault(where, { disk }), await openVault(where)];
    const seed = (accessToken: string) => tokens(accessToken, { flow: 'seed', seed: 'hash' });
    await expect(vault.replace(seed('0'), seed('1'), { place, isFirst: true })).rejects.toThrow('full');
    expect(await vault.load(place)).toEqual(seed('1'));
    disk.isFull = false;
    await vault.load(place);
    await expect.poll(() => other.load(place)).toEqual(seed('1'));
    await other.forget(place);
    expect(await vault.load(place)).toBeUndefined();
  });
});
