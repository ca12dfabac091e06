import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { row, useTemporaryDatabases, databaseErrorOf } from './database.test-support.ts';

const place = useTemporaryDatabases();

describe('several processes', () => {
  let tools: string;

  beforeAll(async () => {
    tools = mkdtempSync(join(tmpdir(), 'trunkline-storage-bundle-'));
    symlinkSync(resolve('node_modules'), join(tools, 'node_modules'), 'dir');
    await build({
      input: 'src/core/storage/database.ts',
      platform: 'node',
      external: (id) => !id.startsWith('.') && !isAbsolute(id),
      transform: { target: 'node20' },
      output: { dir: tools, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
    });
  });

  afterAll(() => rmSync(tools, { recursive: true, force: true }));

  interface Child {
    readonly line: () => Promise<string>;
    readonly send: (text: string) => void;
    readonly ended: Promise<string>;
  }

  /** Runs `source` with `openDatabase`, `stateDir`, `say(text)` and `heard()` in scope. */
  function child(source: string): Child {
    const script = `
      import { openDatabase } from ${JSON.stringify(join(tools, 'database.mjs'))};
      const stateDir = ${JSON.stringify(place.stateDir)};
      const say = (text) => process.stdout.write(text + '\\n');
      const heard = () => new Promise((resolve) => process.stdin.once('data', resolve));
      ${source}
      process.exit(0);`;
    const running = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let text = '';
    let wake = () => {};
    running.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      wake();
    });
    return {
      line: async () => {
        while (!text.includes('\n')) await new Promise<void>((done) => (wake = done));
        const line = text.slice(0, text.indexOf('\n'));
        text = text.slice(line.length + 1);
        return line;
      },
      send: (message) => void running.stdin.write(message),
      ended: new Promise((done) => running.on('close', (code, signal) => done(`${code ?? signal ?? ''}`))),
    };
  }

  test('database: opening it prints nothing to standard error', () => {
    const script = `
      import { openDatabase } from ${JSON.stringify(join(tools, 'database.mjs'))};
      const database = await openDatabase({ stateDir: ${JSON.stringify(place.stateDir)} });
      await database[Symbol.asyncDispose]();`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  });

  test('database: loses no write of processes that migrate together', { timeout: 30_000 }, async () => {
    const children = Array.from({ length: 4 }, (_, at) =>
      child(`
        await heard();
        const database = await openDatabase({ stateDir });
        for (let n = 0; n < 25; n++) {
          await database.query.transaction().execute(async (t) => {
            const row = await t.selectFrom('listings').selectAll().where('upstream', '=', 'shared').executeTakeFirst();
            const values = { upstream: 'shared', fingerprint: 'f', listed_at: (row?.listed_at ?? 0) + 1, body: '${at}' };
            await t.insertInto('listings').values(values).onConflict((c) => c.column('upstream').doUpdateSet(values)).execute();
          });
        }
        await database[Symbol.asyncDispose]();
        say(database.movedAside ?? 'sound');`),
    );
    for (const one of children) one.send('go\n');
    expect(await Promise.all(children.map((one) => one.line()))).toEqual([
      'sound',
      'sound',
      'sound',
      'sound',
    ]);
    expect(await Promise.all(children.map((one) => one.ended))).toEqual(['0', '0', '0', '0']);
    const { query } = await place.open();
    expect(await query.selectFrom('listings').select('listed_at').execute()).toEqual([{ listed_at: 100 }]);
  });

  test('damaged database: is moved aside once by several processes', { timeout: 30_000 }, async () => {
    writeFileSync(place.file, 'not a database '.repeat(1000));
    const children = Array.from({ length: 4 }, (_, at) =>
      child(`
        await heard();
        const database = await openDatabase({ stateDir });
        await database.query.insertInto('eras').values({ fingerprint: 'f${at}', era: 'legacy', protocol: 'p', decided_at: 1 }).execute();
        say('done');
        await heard();`),
    );
    for (const one of children) one.send('go\n');
    await Promise.all(children.map((one) => one.line()));
    for (const one of children) one.send('end\n');
    await Promise.all(children.map((one) => one.ended));
    expect(readdirSync(place.stateDir).filter((name) => /damaged-.*Z(-\d+)?$/.test(name))).toHaveLength(1);
    const { query } = await place.open();
    expect(await query.selectFrom('eras').select('fingerprint').execute()).toHaveLength(4);
  });

  test(
    'database: waits for a lock without blocking and then fails with STORE_LOCKED',
    { timeout: 30_000 },
    async () => {
      const { query } = await place.open({ lockTimeoutMs: 300 });
      const holder = child(`
      const database = await openDatabase({ stateDir });
      await database.query.transaction().execute(async () => { say('locked'); await heard(); });
      say('free');`);
      expect(await holder.line()).toBe('locked');
      let ticks = 0;
      const ticking = setInterval(() => ticks++, 5);
      const refused = await databaseErrorOf(query.insertInto('listings').values(row('a')).execute());
      clearInterval(ticking);
      expect(refused).toMatchObject({ code: 'STORE_LOCKED', reason: 'busy' });
      expect(ticks).toBeGreaterThan(5);
      expect(await query.selectFrom('listings').selectAll().execute()).toEqual([]); // Readers are never locked out.
      const patient = query.insertInto('listings').values(row('b')).execute();
      holder.send('free\n');
      await patient;
      expect(await holder.line()).toBe('free');
      await holder.ended;
    },
  );

  test('database: survives a process killed during a transaction', { timeout: 30_000 }, async () => {
    const killed = child(`
      const database = await openDatabase({ stateDir });
      await database.query.insertInto('listings').values({ upstream: 'kept', fingerprint: 'f', listed_at: 1, body: '' }).execute();
      await database.query.transaction().execute(async (t) => {
        await t.insertInto('listings').values({ upstream: 'lost', fingerprint: 'f', listed_at: 1, body: '' }).execute();
        say(String(process.pid));
        await heard();
      });`);
    process.kill(Number(await killed.line()), 'SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    const { query, movedAside } = await place.open();
    expect(movedAside).toBeUndefined();
    expect(await query.selectFrom('listings').select('upstream').execute()).toEqual([{ upstream: 'kept' }]);
  });
});
