import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { Emitter } from '../../lib/emitter.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import { KeyRing } from './key-ring.ts';
import { KeyStore } from './key-store.ts';

const rights = { groups: [], roles: [] };

async function openedIn(place: StorePlace, now: () => number) {
  const open = async (): Promise<Database> => {
    const database = await openDatabase({ ...place, lookEveryMs: 20 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  };
  const storeOf = (database: Database): KeyStore =>
    new KeyStore({ database: () => Promise.resolve(database), now });
  const own = await open();
  const gone: string[] = [];
  const events = new Emitter<{ gone: string }>();
  events.on('gone', (caller) => gone.push(caller));
  const ring = await KeyRing.open({
    store: storeOf(own),
    changes: own.changes,
    events,
    now,
    log: silentLogger,
  });
  onTestFinished(() => ring[Symbol.asyncDispose]());
  return { ring, gone, another: storeOf(await open()) };
}

eachEngine((_engine, newStore) => {
  const opened = async (now: () => number = Date.now) =>
    openedIn(await newStore(temporaryFolder('key-ring')), now);

  test('follows what another process adds and revokes, and tells who is gone', async () => {
    const { ring, gone, another } = await opened();
    const { text } = await another.add('anna', rights);
    await eventually(() => expect(ring.find(text)?.name).toBe('anna'));
    await another.revoke('anna');
    await eventually(() => expect(ring.find(text)).toBeUndefined());
    expect(gone).toEqual(['key:anna']);
  });

  test('keeps one object for a key, by which others remember it', async () => {
    const { ring, another } = await opened();
    const { text } = await another.add('anna', rights);
    await ring.refresh();
    const before = ring.find(text);
    await ring.refresh();
    expect(ring.find(text)).toBe(before);
  });

  test('does not know a key that is over, whose name is free again', async () => {
    let now = 1000;
    const { ring, another } = await opened(() => now);
    const { text, key } = await another.add('anna', { ...rights, expiresAt: 2000 });
    await ring.refresh();
    expect(ring.find(text)).toBeDefined();
    expect(ring.byId(key.id)).toBeDefined();
    await expect(another.add('anna', rights)).rejects.toMatchObject({ code: 'USAGE' });
    now = 2000;
    expect(ring.find(text)).toBeUndefined();
    expect(ring.byId(key.id)).toBeUndefined();
    await expect(another.add('anna', rights)).resolves.toBeDefined();
  });

  test('writes down when a key was used, at the latest when it closes', async () => {
    const { ring, another } = await opened(() => 5000);
    const { key } = await another.add('anna', rights);
    ring.noteUse(key.id);
    await ring[Symbol.asyncDispose]();
    expect(await another.list()).toMatchObject([{ name: 'anna', usedAt: 5000 }]);
  });
});
