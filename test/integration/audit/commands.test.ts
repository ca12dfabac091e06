import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import Libsql from 'libsql';
import { beforeAll, describe, expect, test } from 'vitest';

import { type CommandHome, commandHome, program } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { databasePath } from '../../support/audit-rows.ts';

checkLeaks();

interface Listed {
  readonly seq: number;
  readonly entry: string;
  readonly outcome: string;
}

describe('logs and stats', () => {
  const home = commandHome({ plain: fixture('plain'), other: fixture('structured') });
  beforeAll(async () => {
    for (const words of [['plain__echo', 'text=a'], ['plain__echo', 'text=b'], ['plain__fail']])
      await home.run(['call', ...words]);
  });

  test('audit commands: list and filter the records of earlier processes', { tags: ['slow'] }, async () => {
    const all = (await home.json(['logs'])) as readonly Listed[];
    expect(all.map(({ entry, outcome }) => [entry, outcome])).toEqual([
      ['echo', 'ok'],
      ['echo', 'ok'],
      ['fail', 'tool-error'],
    ]);
    const count = async (...words: string[]): Promise<number> =>
      ((await home.json(['logs', ...words])) as readonly Listed[]).length;
    expect(await count('--errors')).toBe(1);
    expect(await count('--tool', 'plain__echo')).toBe(2);
    expect(await count('--tool', 'ec*', '--limit', '1')).toBe(1);
    expect(await count('--tool', 'plain__ec*')).toBe(2);
    expect(await count('--tool', 'Plain__*', '--errors')).toBe(1);
    expect(await count('--tool', 'other__*')).toBe(0);
    expect(await count('--server', 'other')).toBe(0);
    expect(await count('--caller', 'cli', '--since', '1h')).toBe(3);
    expect(await count('--until', '1h')).toBe(0);
    expect(await home.json(['stats', '--server', 'plain'])).toMatchObject([
      {
        server: 'plain',
        entry: 'echo',
        kind: 'tool',
        calls: 2,
        errors: 0,
        p50: expect.any(Number) as number,
      },
      { server: 'plain', entry: 'fail', calls: 1, errors: 1 },
    ]);
  });

  test('audit commands: print readable tables with --text', async () => {
    const { stdout } = await home.run(['logs', '--text']);
    expect(stdout).toMatch(/ok +plain echo +\d.* ms +\d+→\d+ tok +cli\n/);
    const stats = (await home.run(['stats', '--text'])).stdout;
    expect(stats).toMatch(/^server +name +calls/);
    // Buckets have at most two significant digits.
    expect(stats.match(/\S+ ms/g)?.every((time) => /^~(?:\d\d?0*|\d\.\d|0\.0?\d{1,2}) ms$/.test(time))).toBe(
      true,
    );
    expect((await home.run(['logs', '--text', '--server', 'nobody'])).stdout).toBe(
      'No record matches these filters.\n',
    );
  });

  test('logs: rejects an invalid time as a usage error', async () => {
    const { code, stderr } = await home.run(['logs', '--since', 'yesterday']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--since needs') as string,
    });
  });

  test('logs: exports records as CSV and JSON lines', async () => {
    const csv = (await home.run(['logs', '--export', 'csv'])).stdout.split('\r\n');
    expect(csv[0]).toMatch(/^time,seq,at,request,group,kind,caller/);
    expect(csv).toHaveLength(5);
    const lines = (await home.run(['logs', '--export', 'jsonl'])).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Listed).seq)).toEqual([1, 2, 3]);
  });

  test('logs: follows records written by other processes', async () => {
    const child = spawn(process.execPath, [program, 'logs', '-f', '--json'], {
      cwd: home.home,
      env: { ...process.env, ...(home.env as Record<string, string>) },
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (let old = 0; old < 3; old++) await lines.next();
    await home.run(['call', 'plain__echo', 'text=followed']);
    const { value } = await lines.next();
    expect(JSON.parse(String(value))).toMatchObject({ seq: 4, entry: 'echo' });
    const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
    child.kill('SIGINT');
    expect(await ended).not.toBeNull();
  });
});

describe('audit chain', () => {
  const newHome = (): CommandHome => commandHome({ plain: fixture('plain') }, { audit: { chain: true } });
  const original = newHome();
  beforeAll(async () => {
    for (const text of ['a', 'b', 'c', 'd']) await original.run(['call', 'plain__echo', `text=${text}`]);
  });

  /** A home with the records of four calls. */
  function chained(): CommandHome {
    const home = newHome();
    cpSync(join(original.home, 'state'), join(home.home, 'state'), { recursive: true });
    return home;
  }

  test('audit chain: verifies, and still contains a hash noted earlier', { tags: ['slow'] }, async () => {
    const home = chained();
    const verdict = (await home.json(['audit', 'verify'])) as { head: string };
    expect(verdict).toMatchObject({ ok: true, checked: 4, unchained: 0 });
    await home.run(['call', 'plain__echo', 'text=e']);
    expect(await home.json(['audit', 'verify', '--expect', verdict.head])).toMatchObject({
      ok: true,
      checked: 5,
    });
    expect((await home.run(['audit', 'verify', '--expect', verdict.head.toUpperCase()])).code).toBe(0);
    expect((await home.run(['audit', 'verify', '--expect', 'f'.repeat(64)])).code).toBe(1);
  });

  test('audit chain: rejects an expected value that is not a hash as a usage error', async () => {
    const { code, stderr } = await commandHome().run(['audit', 'verify', '--expect', 'abc', '--text']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/64 hexadecimal digits.*\[USAGE\]/s) as string,
    });
  });

  test.each([
    ['an edited outcome', "update audit_commons set outcome = 'failed' where id = 2"],
    [
      'an edited field of one record',
      "update audit_records set body = json_set(body, '$[2]', 99) where seq = 2",
    ],
    ['a deleted record', 'delete from audit_records where seq = 2'],
    ['a deleted first record', 'delete from audit_records where seq = 1'],
    ['a deleted last record', 'delete from audit_records where seq = 4'],
    ['the deletion of all records', 'delete from audit_records'],
    ['a deleted row of shared fields', 'delete from audit_commons where id = 3'],
    [
      'an edited time that would hide records from a time filter',
      'update audit_commons set last_at = 1 where id = 2',
    ],
    [
      'reordered records',
      'update audit_records set seq = case seq when 2 then 30 when 3 then 2 else seq end; update audit_records set seq = 3 where seq = 30',
    ],
    ['a record without its hash', "update audit_records set body = json_remove(body, '$[12]') where seq = 3"],
  ])('audit chain: detects %s', async (_, tampering) => {
    const home = chained();
    const database = new Libsql(databasePath(home.home));
    database.exec(tampering);
    database.close();
    const { code, stdout } = await home.run(['audit', 'verify']);
    expect({ code, verdict: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 1,
      verdict: { ok: false },
    });
  });
});
