import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { eventually, waitForValue } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

interface Finding {
  readonly check: string;
  readonly subject: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

const nowhere = { http: { address: '127.0.0.1:0' } };

describe('doctor with a running gateway', () => {
  test('doctor: names the running gateway and asks it about its servers', async () => {
    const plain = fixture('plain');
    await using gateway = await startGateway({ mcpServers: { plain }, listen: 'http', config: nowhere });
    const home = commandHome({});
    const { findings } = (await home.json(['doctor'], { env: { TRUNKLINE_HOME: gateway.home } })) as {
      findings: readonly Finding[];
    };
    expect(findings).toContainEqual({
      check: 'processes',
      subject: `process ${gateway.pid}`,
      status: 'ok',
      message: 'the gateway runs over HTTP for 0 clients',
    });
    expect(findings.find(({ subject }) => subject === 'plain')).toMatchObject({ status: 'ok' });
    expect(fixtureLog(plain).of('started')).toHaveLength(1);
  });

  test('doctor: reports an untrusted project file and the gateway that still runs with its old version', async () => {
    const home = commandHome({});
    const folder = join(home.home, 'project');
    mkdirSync(folder);
    const file = join(folder, 'trunkline.jsonc');
    const plain = fixture('plain');
    writeFileSync(file, JSON.stringify({ mcpServers: { plain }, ...nowhere }));
    const here = { cwd: folder };
    expect(await home.run(['trust', file])).toMatchObject({ code: 0 });
    expect(await home.run(['dashboard', '--print'], here)).toMatchObject({ code: 0 });
    try {
      writeFileSync(file, JSON.stringify({ mcpServers: { plain, more: plain }, ...nowhere }));
      // The gateway notices the change of its file after a delay.
      await eventually(async () => {
        const { code, stdout } = await home.run(['doctor'], here);
        expect(code).toBe(3);
        const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
        const [first, ...others] = findings.filter(({ status }) => status === 'failure');
        expect(first).toMatchObject({
          check: 'configuration',
          fix: expect.stringContaining('trunkline trust'),
        });
        expect(others).toMatchObject([
          { message: expect.stringMatching(/^The running gateway \(process \d+\)/) },
        ]);
        expect(findings.map(({ message }) => message)).toContain(
          'the gateway runs in the background for 0 clients',
        );
        expect(findings.filter(({ check }) => check === 'server').map(({ subject }) => subject)).toEqual([
          'plain',
        ]);
      });
    } finally {
      await home.run(['stop'], here);
    }
  });

  test('doctor: recognises another Trunkline on the configured port', async () => {
    await using other = await startGateway({ mcpServers: {}, listen: 'http' });
    const home = commandHome({}, { http: { address: new URL(other.url).host } });
    const { findings } = (await home.json(['doctor'])) as { findings: readonly Finding[] };
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([
      expect.objectContaining({
        check: 'port',
        message: expect.stringContaining('another Trunkline, with another configuration'),
        fix: expect.stringContaining('--config FILE'),
      }),
    ]);
  });
});

describe('doctor checks the files of clients', () => {
  interface Person {
    readonly folder: string;
    readonly file: string;
    readonly home: ReturnType<typeof commandHome>;
    readonly env: Readonly<Record<string, string | undefined>>;
    findings(): Promise<readonly Finding[]>;
  }

  /** A user with Claude Code, whose file has this entry for Trunkline. */
  function person(entry?: object): Person {
    const home = commandHome({}, nowhere);
    const folder = temporaryFolder('person');
    const file = join(folder, '.claude.json');
    const trunkline = entry === undefined ? {} : { trunkline: entry };
    writeFileSync(file, JSON.stringify({ mcpServers: trunkline }, null, 2));
    const env = {
      HOME: folder,
      XDG_CONFIG_HOME: undefined,
      APPDATA: undefined,
      CLAUDE_CONFIG_DIR: undefined,
    };
    return {
      folder,
      file,
      home,
      env,
      findings: async () => {
        const { findings } = JSON.parse((await home.run(['doctor', '--json'], { env })).stdout) as {
          findings: readonly Finding[];
        };
        return findings.filter(({ check }) => check === 'client');
      },
    };
  }

  const works = { type: 'stdio', command: 'trunkline', args: ['serve'], alwaysLoad: true };

  test.each([
    {
      what: 'names a program that is gone',
      entry: { ...works, command: process.execPath, args: ['/gone/trunkline/dist/main.js', 'serve'] },
      status: 'failure',
      message: 'names /gone/trunkline/dist/main.js, which does not exist',
    },
    {
      what: 'names another configuration',
      entry: { ...works, args: ['serve', '--config', '/other/config.jsonc'] },
      status: 'warning',
      message: 'another configuration, /other/config.jsonc',
    },
    {
      what: 'has another TRUNKLINE_HOME',
      entry: { ...works, env: { TRUNKLINE_HOME: '/other' } },
      status: 'warning',
      message: 'another configuration, /other/config.jsonc',
    },
    {
      what: 'lets the client hide tools',
      entry: { ...works, alwaysLoad: undefined },
      status: 'warning',
      message: 'lacks alwaysLoad',
    },
  ])(
    'doctor: an entry that $what is reported, and the advice repairs it',
    { tags: ['slow'] },
    async ({ entry, status, message }) => {
      const me = person(entry);
      const before = readFileSync(me.file, 'utf8');
      const [finding, ...others] = await me.findings();
      expect([finding, others]).toEqual([
        {
          check: 'client',
          subject: 'claude-code',
          status,
          message: expect.stringContaining(message) as string,
          fix: 'trunkline connect claude-code',
          ...(status === 'failure' && { exit: 1 }),
        },
        [],
      ]);
      expect(readFileSync(me.file, 'utf8')).toBe(before);
      const words = finding?.fix?.split(' ').slice(1) ?? [];
      expect(await me.home.run([...words, '--yes'], { env: me.env })).toMatchObject({ code: 0 });
      expect((await me.findings()).map(({ message: text }) => text)).toEqual([
        'Claude Code has not connected since Trunkline was written into its configuration',
      ]);
    },
  );

  test(
    'doctor: a client must be restarted until it has connected after connect',
    { tags: ['slow'] },
    async () => {
      const me = person();
      expect(await me.findings()).toEqual([]);
      await me.home.run(['connect', 'claude-code', '--yes'], { env: me.env });
      const [finding] = await me.findings();
      expect(finding).toMatchObject({
        status: 'warning',
        fix: expect.stringMatching(/^Restart Claude Code\./) as string,
      });
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'claude-code', version: '2.1.0' },
        },
      };
      const { code } = await me.home.run(['serve', '--standalone'], {
        env: me.env,
        input: `${JSON.stringify(initialize)}\n`,
      });
      expect(code).toBe(0);
      expect(await me.findings()).toMatchObject([{ subject: 'claude-code', status: 'ok' }]);
    },
  );

  test('doctor: an entry for another configuration is no problem next to one for this configuration', async () => {
    const me = person();
    const other = { ...works, args: ['serve', '--config', '/other/config.jsonc'] };
    writeFileSync(me.file, JSON.stringify({ mcpServers: { other, trunkline: works } }));
    expect(await me.findings()).toMatchObject([{ subject: 'claude-code', status: 'ok' }]);
    expect(await me.home.run(['connect', 'claude-code', '--yes'], { env: me.env })).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(readFileSync(me.file, 'utf8'))).toMatchObject({ mcpServers: { other } });
  });
});

describe('held server', () => {
  const held = fixture('plain');
  const home = commandHome({ held: { ...held, trust: 'manual' } }, nowhere);

  test('held server: is listed as held and never started', async () => {
    expect(await home.json(['servers'])).toMatchObject([{ name: 'held', problem: { code: 'QUARANTINED' } }]);
    const { stdout } = await home.run(['servers', '--text']);
    expect(stdout).toMatch(/^held +held\b/m);
    expect(fixtureLog(held).of('started')).toEqual([]);
  });

  test('held server: is a doctor warning that names the approvals command', async () => {
    const { stdout } = await home.run(['doctor']);
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    expect(findings.find(({ subject }) => subject === 'held')).toMatchObject({
      check: 'server',
      status: 'warning',
      fix: expect.stringContaining('trunkline approvals'),
    });
    expect(fixtureLog(held).of('started')).toEqual([]);
  });
});

test('background gateway: logs an unused config entry at startup', async () => {
  await using shared = new SharedHome({
    mcpServers: { plain: fixture('plain'), odd: { comand: 'x' } },
  });
  const pipe = await shared.pipe();
  await pipe.client();
  const log = join(shared.home, 'state', 'logs', 'gateway.log');
  const line = await waitForValue(
    () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .find((each) => each.includes('is not used')),
    { what: 'The line of the log' },
  );
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    file: expect.stringMatching(/config\.jsonc:\d+:\d+$/),
    reason: expect.stringContaining('server "odd" is left out'),
  });
});
