import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from '../../core/storage/database.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import { silentLogger } from '../../observability/log.ts';
import { SecretStore } from './secret-store.ts';
import { openKeyFile } from './token-encryption/secret-key.ts';
import type { Keychain } from './token-encryption/keychain.ts';

/** A keychain in memory, as `findSystemKeychain` returns one. */
function memoryKeychain(items: Map<string, string>): Keychain & { isLocked: boolean } {
  const keychain = {
    isLocked: false,
    read: (name: string) => Promise.resolve(keychain.isLocked ? undefined : items.get(name)),
    write: (name: string, secret: string) =>
      keychain.isLocked ? Promise.reject(new Error('locked')) : Promise.resolve(void items.set(name, secret)),
    remove: (name: string) => Promise.resolve(void items.delete(name)),
  };
  return keychain;
}

async function openStore(where: StoreLocation, keychain?: Keychain, keyFile = 'secret.key') {
  const database = await openDatabase(where);
  onTestFinished(() => database[Symbol.asyncDispose]());
  const key = openKeyFile(join(where.stateDir, keyFile));
  const { stateDir } = where;
  const store = new SecretStore({
    database: () => Promise.resolve(database),
    isStored: () => true,
    key,
    keychain,
    stateDir,
    now: () => 7,
    log: silentLogger,
  });
  return { store, database };
}

eachEngine((_engine, newStore) => {
  test('secret store: encrypts values in the database if there is no keychain', async () => {
    const where = await newStore(temporaryFolder('secrets'));
    const { store, database } = await openStore(where);
    expect(await store.write('TOKEN', 'first')).toBe('vault');
    expect(await store.write('TOKEN', 'line 1\n"line 2"')).toBe('vault');
    expect(await store.read('TOKEN')).toBe('line 1\n"line 2"');
    expect(await store.list()).toEqual([{ name: 'TOKEN', place: 'vault', savedAt: 7 }]);
    const rows = await database.query.selectFrom('secrets').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('line');
    const other = await openStore(where, undefined, 'other.key');
    expect(await other.store.read('TOKEN')).toBeUndefined();
    // The name is authenticated, so a row cannot stand for another secret.
    await database.query.updateTable('secrets').set({ name: 'MOVED' }).execute();
    expect(await store.read('MOVED')).toBeUndefined();
    expect([await store.remove('MOVED'), await store.remove('MOVED'), await store.list()]).toEqual([
      true,
      false,
      [],
    ]);
  });

  test('secret store: lists the other secrets beside rows that it would not write', async () => {
    const { store, database } = await openStore(await newStore(temporaryFolder('secrets')));
    await store.write('TOKEN', 'first');
    const rows = [
      { name: 'FAR', body: 'x', saved_at: Number.MAX_SAFE_INTEGER },
      { name: '\u001b[2J\nTOKEN', body: 'x', saved_at: 1 },
    ];
    await database.query.insertInto('secrets').values(rows).execute();
    expect(await store.list()).toEqual([{ name: 'TOKEN', place: 'vault', savedAt: 7 }]);
  });

  test('secret store: prefers the keychain, and reports one that is locked', async () => {
    const where = await newStore(temporaryFolder('secrets'));
    const items = new Map<string, string>();
    const keychain = memoryKeychain(items);
    const { store, database } = await openStore(where, keychain);
    expect(await store.write('TOKEN', 'a "b" \n é')).toBe('keychain');
    expect(await store.read('TOKEN')).toBe('a "b" \n é');
    expect([...items].join()).toMatch(/^secret-[0-9a-f]{16}-TOKEN,[A-Za-z0-9+/=]+$/);
    expect(await database.query.selectFrom('secrets').select('body').execute()).toEqual([{ body: null }]);
    keychain.isLocked = true;
    await expect(store.read('TOKEN')).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect(await store.write('TOKEN', 'new')).toBe('vault');
    expect(await store.read('TOKEN')).toBe('new');
    keychain.isLocked = false;
    expect(await store.write('LONG', 'x'.repeat(2000))).toBe('vault');
    expect(items.size).toBe(0);
    await expect(store.write('LONG', 'x'.repeat(70_000))).rejects.toMatchObject({ code: 'USAGE' });
  });
});
