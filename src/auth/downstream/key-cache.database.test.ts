import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { Emitter } from '../../core/lib/emitter.ts';
import { silentLogger } from '../../observability/log.ts';
import { openDatabase } from '../../core/storage/database.ts';
import type { Database } from '../../core/storage/database.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import { KeyCache } from './key-cache.ts';
import { KeyStore } from './key-store.ts';

const rights = { groups: [], roles: [] };

async function openedIn(place: StoreLocation, now: () => number) {
  const open = async (): Promise<Database> => {
    const database = await openDatabase({ ...place, pollIntervalMs: 20 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  };
  const storeOf = (database: Database): KeyStore =>
    new KeyStore({ database: () => Promise.resolve(database), now, log: silentLogger });
  const own = await open();
  const gone: string[] = [];
  const events = new Emitter<{ gone: string }>();
  events.on('gone', (caller) => gone.push(caller));
  const cache = await KeyCache.open({
    store: storeOf(own),
    changes: own.changes,
    events,
    now,
    log: silentLogger,
  });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  return { cache, gone, another: storeOf(await open()), database: own };
}

eachEngine((_engine, newStore) => {
  const opened = async (now: () => number = Date.now) =>
    openedIn(await newStore(temporaryFolder('key-cache')), now);

  test('key cache: follows keys that another process adds and revokes, and reports revoked callers', async () => {
    const { cache, gone, another } = await opened();
    const { text } = await another.add('anna', rights);
    await eventually(() => expect(cache.find(text)?.name).toBe('anna'));
    await another.revoke('anna');
    await eventually(() => expect(cache.find(text)).toBeUndefined());
    expect(gone).toEqual(['key:anna']);
  });

  test('key cache: returns the same object for a key after a refresh', async () => {
    const { cache, another } = await opened();
    const { text } = await another.add('anna', rights);
    await cache.refresh();
    const before = cache.find(text);
    await cache.refresh();
    expect(cache.find(text)).toBe(before);
  });

  test('key cache: rejects an expired key and frees its name', async () => {
    let now = 1000;
    const { cache, another } = await opened(() => now);
    const { text, key } = await another.add('anna', { ...rights, expiresAt: 2000 });
    await cache.refresh();
    expect(cache.find(text)).toBeDefined();
    expect(cache.findById(key.id)).toBeDefined();
    await expect(another.add('anna', rights)).rejects.toMatchObject({ code: 'USAGE' });
    now = 2000;
    expect(cache.find(text)).toBeUndefined();
    expect(cache.findById(key.id)).toBeUndefined();
    await expect(another.add('anna', rights)).resolves.toBeDefined();
  });

  test('key cache: records when a key was used, at the latest on close', async () => {
    const { cache, another } = await opened(() => 5000);
    const { key } = await another.add('anna', rights);
    cache.recordUse(key.id);
    await cache[Symbol.asyncDispose]();
    expect(await another.list()).toMatchObject([{ name: 'anna', usedAt: 5000 }]);
  });

  test('key cache: accepts the other keys while the database contains a damaged or planted key', async () => {
    const { cache, another, database } = await opened();
    const { text, key } = await another.add('anna', rights);
    const plant = (
      id: string,
      row: { readonly body: string; readonly name?: string; readonly hash?: string },
    ) =>
      database.query
        .insertInto('caller_keys')
        .values({
          id,
          name: `name-${id}`,
          hash: key.hash,
          created_at: 1,
          expires_at: null,
          used_at: null,
          ...row,
        })
        .execute();
    const bodies = [
      'not JSON',
      'null',
      '[]',
      '{}',
      '{"groups":"x","roles":[]}',
      '{"groups":[{"a":1}],"roles":[]}',
      '{"groups":[],"roles":[],"tier":"everything"}',
      '{"groups":[],"roles":[],"profile":{"toString":1}}',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    ];
    for (const [at, body] of bodies.entries()) await plant(`planted-${at}`, { body });
    const valid = '{"groups":[],"roles":[]';
    await plant('other-name', { body: `${valid}}`, name: 'a\u001b[2Jb; drop table caller_keys' });
    await plant('other-hash', { body: `${valid}}`, hash: 'zz' });
    // Members of the body must not replace the columns.
    await plant('columns', {
      body: `${valid},"id":"${key.id}","name":"root","hash":"${key.hash}","expiresAt":1}`,
    });
    await cache.refresh();
    expect(cache.find(text)?.name).toBe('anna');
    const listed = await another.list();
    expect(listed.map(({ id, name }) => ({ id, name }))).toEqual(
      [
        { id: key.id, name: 'anna' },
        { id: 'columns', name: 'name-columns' },
      ].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    );
    expect(listed.find(({ id }) => id === 'columns')).toMatchObject({ expiresAt: undefined });
    await another.revoke('anna');
    await cache.refresh();
    expect(cache.find(text)).toBeUndefined();
  });
});
