import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import Libsql from 'libsql';
import { describe, expect, test } from 'vitest';

import { commandHome, program } from '../support/command.ts';
import { fixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { databaseOf } from '../support/recorded.ts';

checkLeaks();

interface Listed {
  readonly seq: number;
  readonly entry: string;
  readonly outcome: string;
}

describe('logs and stats', () => {
  const home = commandHome({ plain: fixture('plain'), other: fixture('structured') });

  test('show what was done, filtered, and survive restarts', async () => {
    for (const words of [['plain__echo', 'text=a'], ['plain__echo', 'text=b'], ['plain__fail']])
      await home.run(['call', ...words]);
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

  test('are readable on a terminal', async () => {
    const { stdout } = await home.run(['logs', '--text']);
    expect(stdout).toMatch(/ok +plain echo +\d.* ms +\d+→\d+ tok +cli\n/);
    const stats = (await home.run(['stats', '--text'])).stdout;
    expect(stats).toMatch(/^server +name +calls/);
    // Buckets know no third digit.
    expect(stats.match(/\S+ ms/g)?.every((time) => /^~(?:\d\d?0*|\d\.\d|0\.0?\d{1,2}) ms$/.test(time))).toBe(
      true,
    );
    expect((await home.run(['logs', '--text', '--server', 'nobody'])).stdout).toBe(
      'Nothing of that kind was recorded.\n',
    );
  });

  test('say what is wrong with a time', async () => {
    const { code, stderr } = await home.run(['logs', '--since', 'yesterday']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--since needs') as string,
    });
  });

  test('are exported as CSV and JSON lines', async () => {
    const csv = (await home.run(['logs', '--export', 'csv'])).stdout.split('\r\n');
    expect(csv[0]).toMatch(/^time,seq,at,request,group,kind,caller/);
    expect(csv).toHaveLength(5);
    const lines = (await home.run(['logs', '--export', 'jsonl'])).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Listed).seq)).toEqual([1, 2, 3]);
  });

  test('follow what other processes do', async () => {
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

describe('the chain', () => {
  async function chained(): Promise<ReturnType<typeof commandHome>> {
    const home = commandHome({ plain: fixture('plain') }, { audit: { chain: true } });
    for (const text of ['a', 'b', 'c', 'd']) await home.run(['call', 'plain__echo', `text=${text}`]);
    return home;
  }

  test('is whole, and has the hash that was noted', async () => {
    const home = await chained();
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

  test('is not said to be broken where what is expected is no hash', async () => {
    const { code, stderr } = await commandHome().run(['audit', 'verify', '--expect', 'abc', '--text']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/64 digits.*\[USAGE\]/s) as string,
    });
  });

  test.each([
    ['an edit', "update audit_commons set outcome = 'failed' where id = 2"],
    [
      'an edit of what only one has',
      "update audit_records set body = json_set(body, '$[2]', 99) where seq = 2",
    ],
    ['a deletion', 'delete from audit_records where seq = 2'],
    ['one at the beginning', 'delete from audit_records where seq = 1'],
    ['one at the end', 'delete from audit_records where seq = 4'],
    ['all of them gone', 'delete from audit_records'],
    ['nothing left of what some have in common', 'delete from audit_commons where id = 3'],
    ['a time that hides from whoever asks for one', 'update audit_commons set last_at = 1 where id = 2'],
    [
      'another order',
      'update audit_records set seq = case seq when 2 then 30 when 3 then 2 else seq end; update audit_records set seq = 3 where seq = 30',
    ],
    ['a record without its hash', "update audit_records set body = json_remove(body, '$[12]') where seq = 3"],
  ])('shows %s', async (_, tampering) => {
    const home = await chained();
    const database = new Libsql(databaseOf(home.home));
    database.exec(tampering);
    database.close();
    const { code, stdout } = await home.run(['audit', 'verify']);
    expect({ code, verdict: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 1,
      verdict: { ok: false },
    });
  });
});
