import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { commandHome, program } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import { stdioTransport } from '../../support/raw-transports.ts';

checkLeaks();

describe('config path', () => {
  test('config path: prints one line as text, and all details as JSON', async () => {
    const home = commandHome({});
    expect(await home.run(['config', 'path', '--text'])).toEqual({
      code: 0,
      stderr: '',
      stdout: `${home.configFile}\n`,
    });
    expect(await home.json(['config', 'path'])).toEqual({
      path: home.configFile,
      exists: true,
      dir: home.home,
      from: 'user',
      trusted: true,
      stateDir: join(home.home, 'state'),
    });
  });

  test('config path: neither creates a missing file nor fails on a broken one', async () => {
    const home = commandHome({});
    writeFileSync(home.configFile, '{ oops');
    expect(await home.json(['config', 'path'])).toMatchObject({ path: home.configFile, exists: true });
    rmSync(home.configFile);
    expect(await home.json(['config', 'path'])).toMatchObject({ path: home.configFile, exists: false });
    expect(existsSync(home.configFile)).toBe(false);
  });

  test('config path: follows --config, TRUNKLINE_CONFIG and a project file, in this order', async () => {
    const home = commandHome({});
    const folder = join(realpathSync(home.home), 'project');
    mkdirSync(folder);
    const project = join(folder, 'trunkline.jsonc');
    const env = { TRUNKLINE_CONFIG: 'named.jsonc' };
    const at = async (args: readonly string[], options = {}): Promise<unknown> =>
      home.json(['config', 'path', ...args], { cwd: folder, ...options });
    expect(await at(['--config', 'other.jsonc'], { env })).toMatchObject({
      path: join(folder, 'other.jsonc'),
      from: 'flag',
    });
    expect(await at([], { env })).toMatchObject({ path: join(folder, 'named.jsonc'), from: 'environment' });
    writeFileSync(project, '{}');
    expect(await at([])).toMatchObject({ path: project, from: 'project', trusted: false });
    const { stdout, stderr } = await home.run(['config', 'path', '--text'], { cwd: folder });
    expect(stdout).toBe(`${project}\n`);
    expect(stderr).toContain('trunkline trust');
  });
});

describe('inline config in TRUNKLINE_CONFIG_JSON', () => {
  const plain = fixture('plain');
  const inline = (value: unknown): { env: { TRUNKLINE_CONFIG_JSON: string } } => ({
    env: { TRUNKLINE_CONFIG_JSON: typeof value === 'string' ? value : JSON.stringify(value) },
  });
  const whole = inline({ mcpServers: { given: plain } });
  const home = commandHome({ never: fixture('plain') });

  test('inline config: replaces every file except one named by --config', async () => {
    writeFileSync(join(home.home, 'named.jsonc'), '{ "mcpServers": {} }', { mode: 0o600 });
    expect(await home.json(['servers'], whole)).toMatchObject([{ name: 'given' }]);
    const env = { ...whole.env, TRUNKLINE_CONFIG: 'named.jsonc' };
    expect(await home.json(['servers'], { env })).toMatchObject([{ name: 'given' }]);
    expect(await home.json(['servers', '--config', 'named.jsonc'], whole)).toEqual([]);
    expect(await home.json(['servers'], inline(' '))).toMatchObject([{ name: 'never' }]);
  });

  test('inline config: accepts comments and serves calls', async () => {
    const text = `// One server.\n{ "mcpServers": { "given": ${JSON.stringify(plain)}, } }`;
    const { code, stdout } = await home.run(['call', 'given__echo', 'text=hello', '--text'], inline(text));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello\n' });
  });

  test('inline config: is validated like a file, and errors name the variable', async () => {
    const wrong = await home.run(['tools'], inline('{\n  "htp": {}\n}'));
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain('TRUNKLINE_CONFIG_JSON:2:3: "htp" is not a known key');
    expect(wrong.stderr).not.toContain(home.home);
    const doctor = await home.run(
      ['doctor', '--text'],
      inline({ mcpServers: { odd: { comand: 'x' } }, http: { address: '127.0.0.1:0' } }),
    );
    expect(doctor.stdout).toContain('→ Correct the variable TRUNKLINE_CONFIG_JSON.');
    expect(doctor.stdout).not.toContain('trunkline edit');
  });

  test.each([
    { args: ['add', 'more', '--', 'node'] },
    { args: ['remove', 'given'] },
    { args: ['disable', 'given'] },
    { args: ['edit'] },
  ])('inline config: rejects $args, since there is no file to change', async ({ args }) => {
    const { code, stderr } = await home.run(args, { env: { ...whole.env, EDITOR: 'true' } });
    expect(code).toBe(6);
    expect(stderr).toContain('The configuration is in the variable TRUNKLINE_CONFIG_JSON');
  });

  test('inline config: has no path', async () => {
    expect(await home.json(['config', 'path'], whole)).toMatchObject({
      path: null,
      exists: true,
      from: 'inline',
      variable: 'TRUNKLINE_CONFIG_JSON',
    });
  });

  test('inline config: is not passed to servers', async () => {
    const { stdout } = await home.run(['call', 'given__env', '{"names":["TRUNKLINE_CONFIG_JSON"]}'], whole);
    expect(stdout).not.toContain('mcpServers');
    expect(fixtureLog(plain).of('started').length).toBeGreaterThan(0);
  });

  test('inline config: clients share one gateway until the config changes', async () => {
    const own = commandHome({});
    const served = async (value: unknown, work: (client: RawClient) => Promise<void>): Promise<void> => {
      const variables = Object.entries({ ...process.env, ...own.env, ...inline(value).env });
      const env = Object.fromEntries(variables.filter(([, text]) => text !== undefined));
      const child = spawn(process.execPath, [program, 'serve', '--expose', 'direct'], {
        cwd: own.home,
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const client = await RawClient.over(stdioTransport(child), {});
      await client.open();
      await work(client);
      await client[Symbol.asyncDispose]();
    };
    const running = async (value: unknown): Promise<unknown> =>
      ((await own.json(['status'], inline(value))) as { pid?: number }).pid;
    const first = { mcpServers: { given: fixture('plain') } };
    const second = { mcpServers: { other: fixture('plain') } };
    try {
      await served(first, async (client) => {
        expect(await client.callTool('given__echo', { text: 'a' })).toMatchObject({
          content: [{ text: 'a' }],
        });
      });
      const pid = await running(first);
      expect(pid).toEqual(expect.any(Number));
      await served(first, async (client) => {
        expect(await client.callTool('given__echo', { text: 'b' })).toMatchObject({
          content: [{ text: 'b' }],
        });
      });
      expect(await running(first)).toBe(pid);
      await served(second, async (client) => {
        expect(await client.callTool('other__echo', { text: 'c' })).toMatchObject({
          content: [{ text: 'c' }],
        });
      });
      expect(await running(second)).not.toBe(pid);
    } finally {
      await own.run(['stop'], inline(second));
    }
  });
});
