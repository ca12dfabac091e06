import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { program } from '../../support/command.ts';
import { waitForValue } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const environment = (home: string): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: home,
  XDG_CONFIG_HOME: '',
  XDG_STATE_HOME: '',
  TRUNKLINE_HOME: '',
  TRUNKLINE_CONFIG: '',
});

/** Runs the program in its own home; standard input ends after `input`. */
async function run(
  home: string,
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<RunResult> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...environment(home), ...env },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    return () => Buffer.concat(parts).toString();
  }) as [() => string, () => string];
  child.stdin.on('error', () => {}); // The process may already have exited.
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

const configOf = (home: string): string => join(home, '.config', 'trunkline', 'config.jsonc');
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('first start', () => {
  test('first start: creates a commented config file and folders that only the user can read, and says so', async () => {
    const home = temporaryFolder('first');
    const { code, stdout, stderr } = await run(home, ['serve', '--standalone'], { input: PING });
    expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
    const file = configOf(home);
    expect(stderr).toContain(`Created a configuration without servers: ${file}`);
    expect([file, dirname(file)].map(modeOf)).toEqual(['600', '700']);
    expect(readFileSync(file, 'utf8')).toContain('// The MCP servers behind the gateway');
    const state = join(home, '.local', 'state', 'trunkline');
    expect(modeOf(state)).toBe('700');
  });

  test('first start: concurrent starts create one config file and nothing else', async () => {
    const home = temporaryFolder('race');
    const all = await Promise.all(
      Array.from({ length: 5 }, () => run(home, ['serve', '--standalone'], { input: PING })),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(all.filter(({ stderr }) => stderr.includes('Created a configuration'))).toHaveLength(1);
    expect(readdirSync(dirname(configOf(home)))).toEqual(['config.jsonc']);
  });

  test('first start: never overwrites a config file, and status creates nothing', async () => {
    const home = temporaryFolder('kept');
    const status = await run(home, ['status']);
    expect([status.code, readdirSync(home)]).toEqual([0, []]);
    mkdirSync(dirname(configOf(home)), { recursive: true });
    writeFileSync(configOf(home), '{ /* mine */ }');
    const { code, stderr } = await run(home, ['serve', '--standalone'], { input: PING });
    expect([code, stderr.includes('Created a configuration')]).toEqual([0, false]);
    expect(readFileSync(configOf(home), 'utf8')).toBe('{ /* mine */ }');
  });
});

describe('read-only home', () => {
  /** A path below a file, where not even root can create a folder. */
  const nowhere = (): string => {
    const file = join(temporaryFolder('read-only'), 'file');
    writeFileSync(file, '');
    return join(file, 'home');
  };

  test.each([[['serve']], [['serve', '--standalone']]])(
    'read-only home: %j serves without servers and explains how to set another home',
    async (args) => {
      const home = nowhere();
      const { code, stdout, stderr } = await run(home, args, { input: PING });
      expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
      expect(stderr).toContain(`${configOf(home)} cannot be written (ENOTDIR)`);
      expect(stderr.match(/Continuing without servers/g)).toHaveLength(1);
      expect(stderr).toContain('TRUNKLINE_HOME');
    },
  );

  test('read-only home: serves with an existing config file', async () => {
    const config = temporaryFolder('config');
    const file = join(config, 'trunkline', 'config.jsonc');
    mkdirSync(dirname(file));
    writeFileSync(file, '{ "mcpServers": {} }');
    const { code, stdout, stderr } = await run(nowhere(), ['serve'], {
      input: PING,
      env: { XDG_CONFIG_HOME: config },
    });
    expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
    expect(stderr).toContain('this process serves the client itself.');
  });

  test('read-only home: serves over HTTP without admin API and dashboard', async () => {
    const child = spawn(process.execPath, [program, 'serve', '--http', '127.0.0.1:0'], {
      env: environment(nowhere()),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
    const url = await waitForValue(() => /http:\/\/127\.0\.0\.1:\d+/.exec(stderr)?.[0], {
      what: 'The address',
      withinMs: 15_000,
    });
    const answer = await fetch(`${url}/healthz`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    child.kill();
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(0);
    expect(stderr).toContain('The admin API and the dashboard are not available');
  });
});

describe('environment variables', () => {
  test('environment variables: empty or false values set nothing', async () => {
    const home = temporaryFolder('empty');
    const env = { TRUNKLINE_STANDALONE: '0', TRUNKLINE_HTTP: '', TRUNKLINE_PROFILE: '' };
    const { code, stdout } = await run(home, ['serve', '--standalone'], { input: PING, env });
    expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
  });
});
