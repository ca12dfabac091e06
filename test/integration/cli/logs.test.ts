import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import Libsql from 'libsql';
import { expect, test } from 'vitest';

import { commandHome, program } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { databasePath } from '../../support/audit-rows.ts';

checkLeaks();

interface Listed {
  readonly seq: number;
  readonly entry: string;
}

/** Copies the newest record `count` times. */
function addRecords(home: string, count: number): void {
  using database = closing(new Libsql(databasePath(home)));
  database.exec(
    `INSERT INTO audit_records (seq, at, common, body)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     SELECT last.seq + n.i, at, common, body FROM n, (SELECT * FROM audit_records ORDER BY seq DESC LIMIT 1) AS last;
     UPDATE audit_ends SET last_seq = (SELECT max(seq) FROM audit_records)`,
  );
}

function closing(database: Libsql.Database): Libsql.Database & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
}

test('logs -f: starts at the end of a long record and misses no later one', { tags: ['slow'] }, async () => {
  const home = commandHome({ plain: fixture('plain') });
  await home.run(['call', 'plain__echo', 'text=first']);
  addRecords(home.home, 25_000);
  const newest = (await home.json(['logs', '--limit', '2'])) as Listed[];
  expect(newest.map(({ seq }) => seq)).toEqual([25_000, 25_001]);
  const child = spawn(process.execPath, [program, 'logs', '-f', '--json', '--limit', '2'], {
    cwd: home.home,
    env: { ...process.env, ...(home.env as Record<string, string>) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Listed> => JSON.parse(String((await lines.next()).value)) as Listed;
  expect([await next(), await next()]).toEqual(newest);
  await home.run(['call', 'plain__pid', '{}']);
  expect(await next()).toMatchObject({ seq: 25_002, entry: 'pid' });
  // More than one page of the underlying query.
  addRecords(home.home, 2500);
  for (let seq = 25_003; seq <= 27_502; seq++) expect((await next()).seq).toBe(seq);
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
});

test('logs -f: prints matching records while thousands of others are written', async () => {
  const home = commandHome({ plain: fixture('plain') });
  await home.run(['call', 'plain__echo', 'text=first']);
  const child = spawn(process.execPath, [program, 'logs', '-f', '--json', '--tool', 'plain__pid'], {
    cwd: home.home,
    env: { ...process.env, ...(home.env as Record<string, string>) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = lines.next();
  addRecords(home.home, 3000);
  await home.run(['call', 'plain__pid', '{}']);
  expect(JSON.parse(String((await next).value))).toMatchObject({ entry: 'pid' });
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
});
