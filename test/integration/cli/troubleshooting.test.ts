import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { testRun } from '../../support/test-run.ts';

checkLeaks();

const plain = fixture('plain');
const never = fixture('plain');
const home = commandHome({
  plain: { ...plain, tools: { deny: ['crash'] } },
  never,
  broken: { command: 'no-such-program-of-ours' },
  off: { ...fixture('plain'), disabled: true },
});

interface Finding {
  readonly check: string;
  readonly subject: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

describe('refresh and restart', () => {
  test('refresh: lists only the given server and prints its state', async () => {
    expect(await home.json(['refresh', 'plain'])).toMatchObject({ name: 'plain', state: 'ready', tools: 18 });
    expect(fixtureLog(never).of('started')).toEqual([]);
  });

  test('refresh: exits with 4 for a server that cannot start', async () => {
    expect(await home.run(['refresh', 'broken'])).toMatchObject({ code: 4, stdout: '' });
  });

  test('refresh: prints the state of every server and exits with the code of the first failure', async () => {
    const some = commandHome({ plain, broken: { command: 'no-such-program-of-ours' } });
    const { code, stdout } = await some.run(['refresh']);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'plain', state: 'ready' },
      { name: 'broken', state: 'failed' },
    ]);
  });

  test('restart: lists the server and says that no gateway is running', async () => {
    const { code, stdout, stderr } = await home.run(['restart', 'plain']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'plain', state: 'ready' });
    expect(stderr).toContain('No gateway is running');
  });

  test('restart: exits with 6 for an unknown server', async () => {
    expect(await home.run(['restart', 'nobody'])).toMatchObject({ code: 6, stdout: '' });
  });
});

describe('why and preflight', () => {
  test.each([
    { name: 'plain__echo', verdict: 'usable', ready: 'ready', code: 0 },
    { name: 'never__echo', verdict: 'unlisted', ready: 'not yet', code: 10 },
    { name: 'plain__crash', verdict: 'hidden', ready: 'blocked', code: 11 },
    { name: 'off', verdict: 'disabled', ready: 'blocked', code: 11 },
    { name: 'plain__ecko', verdict: 'unknown', ready: 'unknown', code: 12 },
    { name: 'plain', verdict: 'usable', ready: 'unknown', code: 12 },
    { name: 'never', verdict: 'unlisted', ready: 'unknown', code: 12 },
  ])('why and preflight: report $name as $verdict and $ready', async ({ name, verdict, ready, code }) => {
    const why = await home.run(['why', name]);
    expect(JSON.parse(why.stdout)).toMatchObject({ name, verdict });
    expect(why.code).toBe(verdict === 'unknown' ? 6 : 0);
    const preflight = await home.run(['preflight', name]);
    expect(JSON.parse(preflight.stdout)).toMatchObject([{ name, verdict: ready }]);
    expect(preflight.code).toBe(code);
    expect(fixtureLog(never).of('started')).toEqual([]);
  });

  test('preflight: exits with the code of the worst name', async () => {
    expect((await home.run(['preflight', 'plain__echo', 'plain__add'])).code).toBe(0);
    expect((await home.run(['preflight', 'plain__echo', 'never__echo', 'plain__crash'])).code).toBe(11);
  });

  test('why: explains what hides a tool and how to change it', async () => {
    const { stdout } = await home.run(['why', 'plain__crash', '--text']);
    expect(stdout).toContain(
      'plain__crash  hidden\n  The pattern "crash" of mcpServers.plain.tools.deny matches "crash".',
    );
    expect(stdout).toContain('To fix this:');
    expect((await home.run(['why', 'plain__ecko', '--text'])).stdout).toContain('Did you mean: plain__echo');
  });
});

describe('why --client', () => {
  test('why --client: shows how a client sees a tool, and accepts the name that only it sees', async () => {
    const long = commandHome({ long: fixture('long-names') });
    const tools = (await long.json(['tools'])) as { name: string }[];
    const name = tools.map((tool) => tool.name).find((each) => each.length === 64) ?? '';
    const { forClient } = (await long.json(['why', name, '--client', 'cursor'])) as {
      forClient: { client: string; name: string; says: string[] };
    };
    expect(forClient.client).toBe('Cursor');
    expect(forClient.name).not.toBe(name);
    expect(forClient.says.length).toBeGreaterThan(0);
    expect(await long.json(['why', forClient.name, '--client', 'cursor'])).toMatchObject({
      name,
      verdict: 'usable',
    });
    expect(await long.json(['why', name, '--client', 'nobody-knows-it'])).toMatchObject({
      forClient: {
        name,
        says: ['No limits of the client "nobody-knows-it" are known, so the client sees it unchanged.'],
      },
    });
    expect(await long.json(['why', 'long', '--client', 'cursor'])).not.toHaveProperty('forClient');
    const { stdout } = await long.run(['why', name, '--client', 'cursor', '--text']);
    expect(stdout).toContain(`Cursor sees it as ${forClient.name}.`);
  });
});

describe('doctor', () => {
  async function findings(
    at: ReturnType<typeof commandHome>,
    args: readonly string[] = [],
  ): Promise<{ code: number | null; all: readonly Finding[]; bad: readonly Finding[] }> {
    const { code, stdout } = await at.run(['doctor', ...args]);
    const { findings: all } = JSON.parse(stdout) as { findings: readonly Finding[] };
    // The default port may be in use on this machine.
    const bad = all.filter(({ status, subject }) => status !== 'ok' && subject !== '127.0.0.1:7332');
    return { code, all, bad };
  }

  test('doctor: reports no problem for a healthy setup', async () => {
    const good = commandHome({ plain }, { http: { address: '127.0.0.1:0' } });
    const { code, all, bad } = await findings(good);
    expect(bad).toEqual([]);
    expect(code).toBe(0);
    expect(new Set(all.map(({ check }) => check))).toEqual(
      new Set(['versions', 'configuration', 'files', 'processes', 'port', 'server']),
    );
    expect((await good.run(['doctor', '--text'])).stdout).toMatch(
      /✓ +server +plain: ready, 18 tools\n\nNo problems found\.\n$/,
    );
  });

  test('doctor: names a missing program, an unset variable and a port in use', async () => {
    const busy = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as { port: number };
    try {
      const bad = commandHome(
        {
          broken: { command: 'no-such-program-of-ours' },
          secret: { ...plain, env: { ...plain.env, TOKEN: '${env:NOT_SET_ANYWHERE}' } },
          odd: { command: 'x', comand: 'y' },
        },
        { http: { address: `127.0.0.1:${port}` } },
      );
      const result = await findings(bad);
      expect(result.code).toBe(3);
      expect(result.bad.find(({ subject }) => subject === 'broken')?.fix).toContain(
        'trunkline restart broken',
      );
      expect(result.bad.find(({ subject }) => subject === 'secret')?.message).toContain('NOT_SET_ANYWHERE');
      expect(result.bad.find(({ subject }) => subject === 'secret')?.fix).toContain(
        'trunkline secret set NOT_SET_ANYWHERE',
      );
      expect(result.bad.find(({ check }) => check === 'configuration')?.message).toContain('comand');
      expect(result.bad.find(({ check }) => check === 'port')?.message).toBe('is used by another program');
    } finally {
      busy.close();
    }
  });

  test('doctor: continues after a broken configuration and exits with 3', async () => {
    const bad = commandHome({});
    writeFileSync(bad.configFile, '{ oops');
    const result = await findings(bad);
    expect(result.code).toBe(3);
    expect(result.bad).toMatchObject([{ check: 'configuration', status: 'failure' }]);
    expect(result.all.map(({ check }) => check)).toContain('files');
  });

  test('doctor: fails for a missing --config file, but not for an empty configuration', async () => {
    const none = commandHome({});
    expect((await findings(none, ['--config', 'nowhere.jsonc'])).code).toBe(3);
    const { code, bad } = await findings(commandHome({}), []);
    expect({ code, bad }).toEqual({ code: 0, bad: [] });
  });

  test('doctor: reports config and state files that others can change or read', async () => {
    const open = commandHome({});
    chmodSync(open.configFile, 0o666);
    const state = join(open.home, 'state');
    mkdirSync(state, { mode: 0o755 });
    writeFileSync(join(state, 'catalog.json'), '{}', { mode: 0o644 });
    const { code, bad } = await findings(open);
    expect(code).toBe(1);
    expect(bad.map(({ fix }) => fix)).toEqual([
      `chmod go-w ${open.configFile}`,
      expect.stringContaining(`chmod go= ${state}`),
    ]);
  });

  test('doctor: reports server processes left behind by a killed gateway', async () => {
    const left = commandHome({});
    const orphan = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { RUN: testRun().id } });
    const ended = once(orphan, 'exit');
    const stat = readFileSync(`/proc/${orphan.pid}/stat`, 'latin1');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const run = join(left.home, 'state', 'run');
    mkdirSync(run, { recursive: true, mode: 0o700 });
    chmodSync(join(left.home, 'state'), 0o700);
    writeFileSync(
      join(run, 'children-999999.json'),
      JSON.stringify({ by: '1', groups: [[orphan.pid, started]] }),
    );
    const { bad } = await findings(left);
    expect(bad).toMatchObject([{ check: 'processes', status: 'warning' }]);
    expect(bad[0]?.message).toContain(String(orphan.pid));
    // The process that doctor starts ends the orphan.
    await ended;
  });
});
