import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { program } from '../../support/command.ts';
import { RawClient } from '../../support/raw-client.ts';
import { stdioTransport } from '../../support/raw-transports.ts';
import { listToolNames, ReloadingGateway } from '../../support/reloading-gateway.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

describe('invalid config', () => {
  test(
    'invalid config: changes nothing, is reported with its position, and applies once fixed',
    { tags: ['slow'] },
    async () => {
      const a = fixture('plain');
      await using line = await ReloadingGateway.start({ mcpServers: { a } });
      const client = await line.client();
      await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
        what: 'The tools',
        withinMs: 15_000,
      });
      const pid = await line.waitForPid('a');
      line.write(
        `{\n  "mcpServers": ${JSON.stringify({ a, b: fixture('plain') })},\n  "timeouts": { "call": "soon" }\n}`,
      );
      const { configProblem } = await eventually(
        async () => {
          const status = await line.status();
          return status.configProblem !== undefined && status;
        },
        { what: 'The problem', withinMs: 15_000 },
      );
      expect(configProblem).toMatchObject({ code: 'CONFIG_INVALID', file: line.file, line: 3, column: 25 });
      expect(configProblem?.message).toContain(`${line.file}:3:25: `);
      const position = `${line.file}:3:25:`;
      const { stdout } = await line.command('status', '--text');
      expect(stdout).toContain(position);
      expect(line.gateway.stderr()).toContain(position);
      const doctor = await line.command('doctor', '--text');
      expect([doctor.code, doctor.stdout.includes(position)]).toEqual([3, true]);
      expect(await client.callTool('a__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
      expect([
        await line.waitForPid('a'),
        (await listToolNames(client)).some((name) => name.startsWith('b__')),
      ]).toEqual([pid, false]);
      line.write({ mcpServers: { a, b: fixture('plain') } });
      await eventually(async () => (await listToolNames(client)).includes('b__echo'), {
        what: 'The tools of b',
        withinMs: 15_000,
      });
      expect((await line.status()).configProblem).toBeUndefined();
      expect(await line.waitForPid('a')).toBe(pid);
    },
  );

  test('invalid config: an invalid server entry disables only that server', async () => {
    const [a, b] = [fixture('plain'), fixture('plain')];
    await using line = await ReloadingGateway.start({ mcpServers: { a, b } });
    const pid = await line.waitForPid('a');
    line.write({ mcpServers: { a, b: { ...b, comand: 'x' } } });
    await eventually(async () => (await line.status()).servers.length === 1, {
      what: 'b is left out',
      withinMs: 15_000,
    });
    const { stdout } = await line.command('status', '--json');
    expect(stdout).toContain('server \\"b\\" is left out');
    expect(await line.waitForPid('a')).toBe(pid);
  });
});

describe('project config', () => {
  test('project config: a changed file is not used until it is trusted again', async () => {
    await using home = new SharedHome({ mcpServers: {} });
    const project = join(home.home, 'project');
    mkdirSync(project);
    const file = join(project, 'trunkline.jsonc');
    const a = fixture('plain');
    writeFileSync(file, JSON.stringify({ mcpServers: { a } }));
    expect(await home.command('trust', file)).toMatchObject({ code: 0 });
    const child = spawn(process.execPath, [program, 'serve', '--expose', 'direct'], {
      cwd: project,
      env: { ...process.env, TRUNKLINE_HOME: home.home, TRUNKLINE_CONFIG: '' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await using client = await RawClient.over(stdioTransport(child));
    await client.open();
    await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
      what: 'The tools',
      withinMs: 15_000,
    });
    const marker = join(project, 'was-run');
    const evil = {
      command: process.execPath,
      args: ['-e', `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`],
    };
    const text = JSON.stringify({ mcpServers: { a, evil } });
    writeFileSync(file, text);
    const states = join(home.home, 'state', 'configs');
    const logged = (): string =>
      readdirSync(states)
        .map((state) => readFileSync(join(states, state, 'logs', 'gateway.log'), 'utf8'))
        .join('');
    await eventually(() => logged().includes('CONFIG_UNTRUSTED'), {
      what: 'The CONFIG_UNTRUSTED error',
      withinMs: 15_000,
    });
    expect([existsSync(marker), await listToolNames(client)]).toEqual([
      false,
      expect.arrayContaining(['a__echo']),
    ]);
    expect(await home.command('trust', file)).toMatchObject({ code: 0 });
    await eventually(() => existsSync(marker), { what: 'The start of the trusted server', withinMs: 15_000 });
  });
});
