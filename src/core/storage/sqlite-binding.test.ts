import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'rolldown';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Database } from './database.ts';
import { row } from './database.test-support.ts';
import { openSqlite } from './sqlite.ts';
import { loadLibsql, loadNodeSqlite, loadSqliteBinding } from './sqlite-binding.ts';
import type { SqliteBinding } from './sqlite-binding.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-binding-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('loadSqliteBinding', () => {
  class DatabaseSync {}

  test.each(['24.15.0', '24.21.0', '25.7.0', '26.0.0', '27.1.0', '30.0.0'])(
    'sqlite binding: is node:sqlite on Node %s',
    async (node) => {
      const runtime = { versions: { node }, getBuiltinModule: () => ({ DatabaseSync }) };
      expect((await loadSqliteBinding(runtime)).name).toBe('node:sqlite');
    },
  );

  test.each(['20.19.0', '22.23.3', '23.11.0', '24.14.1', '25.6.1'])(
    'sqlite binding: is libsql on Node %s, without loading node:sqlite, which would print a warning',
    async (node) => {
      const loaded: string[] = [];
      const getBuiltinModule = (id: string): object => {
        loaded.push(id);
        return { DatabaseSync };
      };
      expect((await loadSqliteBinding({ versions: { node }, getBuiltinModule })).name).toBe('libsql');
      expect(loaded).toEqual([]);
    },
  );

  test('sqlite binding: is libsql where Node was built without SQLite', async () => {
    const runtime = { versions: { node: '26.0.0' }, getBuiltinModule: () => undefined };
    expect((await loadSqliteBinding(runtime)).name).toBe('libsql');
  });

  test('sqlite binding: says which Node needs no libsql when libsql is not installed', async () => {
    await build({
      input: 'src/core/storage/sqlite-binding.ts',
      platform: 'node',
      external: ['libsql'],
      transform: { target: 'node20' },
      output: { file: join(folder, 'binding.mjs') },
    });
    const script = `
      import { loadLibsql } from './binding.mjs';
      const { code, message } = await loadLibsql().catch((error) => error);
      console.log(code, message);`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(printed.toString()).toMatch(/^STORE_LOCKED SQLite cannot be loaded: .* Use Node 24\.15 or newer/);
  });
});

const nodeSqlite = loadNodeSqlite(process);
const libsql = await loadLibsql();
const pairs: [string, string, SqliteBinding, SqliteBinding][] =
  nodeSqlite === undefined
    ? []
    : [
        ['node:sqlite', 'libsql', nodeSqlite, libsql],
        ['libsql', 'node:sqlite', libsql, nodeSqlite],
      ];

describe.skipIf(pairs.length === 0)('files of another binding', () => {
  const open = (file: string, binding: SqliteBinding): Promise<Omit<Database, 'movedAside'>> =>
    openSqlite({ file, binding, lockTimeoutMs: 1000, signal: new AbortController().signal });

  const upstreams = async ({ query }: Pick<Database, 'query'>): Promise<string[]> => {
    const rows = await query.selectFrom('listings').select('upstream').orderBy('upstream').execute();
    return rows.map(({ upstream }) => upstream);
  };

  test.each(pairs)(
    'database: %s opens a file that %s wrote, and the other way round again',
    async (_reader, _writer, reader, writer) => {
      const file = join(folder, 'trunkline.db');
      const names: string[] = [];
      for (const binding of [writer, reader, writer, reader]) {
        const database = await open(file, binding);
        expect(await upstreams(database)).toEqual(names);
        const name = `u${names.length}`;
        await database.query.insertInto('listings').values(row(name, '{"text":"é€😀"}')).execute();
        names.push(name);
        await database[Symbol.asyncDispose]();
      }
    },
  );

  test.each(pairs)(
    'database: %s recovers what is only in the write-ahead log of %s',
    async (_reader, _writer, reader, writer) => {
      const [file, copy] = [join(folder, 'trunkline.db'), join(folder, 'copy.db')];
      const database = await open(file, writer);
      await database.query.insertInto('listings').values(row('a')).execute();
      expect(existsSync(`${file}-wal`)).toBe(true);
      for (const suffix of ['', '-wal']) copyFileSync(file + suffix, copy + suffix);
      await database[Symbol.asyncDispose]();
      const recovered = await open(copy, reader);
      expect(await upstreams(recovered)).toEqual(['a']);
      await recovered[Symbol.asyncDispose]();
    },
  );
});
