import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { silentLogger } from '../../observability/log.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { storeError } from '../../core/storage/store-error.ts';
import { SharedServerStore } from './shared-server-store.ts';

const BASE = `{
  // Of the file.
  "mcpServers": { "one": { "command": "one" }, "two": { "command": "two" } },
}
`;

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const place = await newStore(temporaryFolder('servers'));
    const database = await openDatabase(place);
    onTestFinished(() => database[Symbol.asyncDispose]());
    const secret = randomBytes(32);
    const world = { isAway: false };
    const gateway = ({ key = secret } = {}) => {
      const file = join(temporaryFolder('config'), 'config.jsonc');
      writeFileSync(file, BASE);
      const servers = new SharedServerStore({
        file,
        version: '0',
        now: Date.now,
        log: silentLogger,
        key: { get: () => Promise.resolve(key) },
        database: () => (world.isAway ? Promise.reject(storeError('away', {})) : Promise.resolve(database)),
      });
      return { file, servers };
    };
    return { gateway, database, world };
  };
  const set = (name: string, value: unknown) => ({ path: ['mcpServers', name] as const, value });

  test('shared server entries: apply additions, changes and removals at every replica without touching the file', async () => {
    const { gateway } = await opened();
    const [one, other] = [gateway(), gateway()];
    const edits = [
      set('new', { command: 'new', env: { TOKEN: 'secret' } }),
      set('one', { command: 'uno' }),
      set('two', undefined),
    ];
    const text = await one.servers.save(await one.servers.read(), edits);
    expect(await other.servers.text()).toBe(text);
    expect(text).toContain('// Of the file.');
    const { servers } = await other.servers.read();
    expect(Object.fromEntries(servers)).toEqual({
      one: { command: 'uno' },
      new: { command: 'new', env: { TOKEN: 'secret' } },
    });
    for (const { file } of [one, other]) expect(readFileSync(file, 'utf8')).toBe(BASE);
    // Changes that restore the content of the file leave nothing stored.
    await other.servers.save(await other.servers.read(), [
      set('one', { command: 'one' }),
      set('two', { command: 'two' }),
      set('new', undefined),
    ]);
    expect(await one.servers.text()).toBe(BASE);
  });

  test('shared server entries: reject a stale or invalid change and keep the stored entries', async () => {
    const { gateway } = await opened();
    const [one, other] = [gateway(), gateway()];
    const [mine, theirs] = [await one.servers.read(), await other.servers.read()];
    await one.servers.save(mine, [set('new', { command: 'mine' })]);
    await expect(other.servers.save(theirs, [set('new', { command: 'theirs' })])).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
    });
    expect((await other.servers.read()).servers.get('new')).toEqual({ command: 'mine' });
    await expect(
      other.servers.save(await other.servers.read(), [set('bad', { command: 1 })]),
    ).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('shared server entries: are encrypted, and those of another key are skipped', async () => {
    const { gateway, database } = await opened();
    const one = gateway();
    await one.servers.save(await one.servers.read(), [set('new', { command: 'new', env: { A: 'hidden' } })]);
    const rows = await database.query.selectFrom('runtime_servers').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('hidden');
    expect(await gateway({ key: randomBytes(32) }).servers.text()).toBe(BASE);
  });

  test('shared server entries: stay in use and reject changes while the database is unavailable', async () => {
    const { gateway, world } = await opened();
    const { servers } = gateway();
    const text = await servers.save(await servers.read(), [set('new', { command: 'new' })]);
    expect(await servers.text()).toBe(text);
    world.isAway = true;
    expect(await servers.text()).toBe(text);
    await expect(servers.read()).rejects.toMatchObject({ code: 'STORE_AWAY' });
  });
});
