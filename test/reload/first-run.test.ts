import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { program } from '../support/command.ts';
import { found } from '../support/eventually.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const environment = (home: string): NodeJS.ProcessEnv => ({
  ...process.env,
  ...{ HOME: home, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', TRUNKLINE_HOME: '', TRUNKLINE_CONFIG: '' },
});

/** Runs the program in a home of its own, with this on its standard input, which then ends. */
async function run(
  home: string,
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
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
  child.stdin.on('error', () => {}); // It may have ended before.
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

const configOf = (home: string): string => join(home, '.config', 'trunkline', 'config.jsonc');
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('the first start', () => {
  test('makes folders and a commented configuration that only the person can read, and says so', async () => {
    const home = temporaryFolder('first');
    const { code, stdout, stderr } = await run(home, ['serve', '--standalone'], { input: PING });
    expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
    const file = configOf(home);
    expect(stderr).toContain(`Wrote a first configuration to ${file}`);
    expect([file, dirname(file)].map(modeOf)).toEqual(['600', '700']);
    expect(readFileSync(file, 'utf8')).toContain('// The MCP servers behind the gateway');
    const state = join(home, '.local', 'state', 'trunkline');
    expect(modeOf(state)).toBe('700');
  });

  test('of many at once makes one configuration, and leaves nothing else', async () => {
    const home = temporaryFolder('race');
    const all = await Promise.all(
      Array.from({ length: 5 }, () => run(home, ['serve', '--standalone'], { input: PING })),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(all.filter(({ stderr }) => stderr.includes('Wrote a first configuration'))).toHaveLength(1);
    expect(readdirSync(dirname(configOf(home)))).toEqual(['config.jsonc']);
  });

  test('never writes over what is there, and looking alone makes nothing', async () => {
    const home = temporaryFolder('kept');
    const looked = await run(home, ['status']);
    expect([looked.code, readdirSync(home)]).toEqual([0, []]);
    mkdirSync(dirname(configOf(home)), { recursive: true });
    writeFileSync(configOf(home), '{ /* mine */ }');
    const { code, stderr } = await run(home, ['serve', '--standalone'], { input: PING });
    expect([code, stderr.includes('Wrote')]).toEqual([0, false]);
    expect(readFileSync(configOf(home), 'utf8')).toBe('{ /* mine */ }');
  });
});

describe('a home that cannot be written to', () => {
  /** There can be no folder below a file, not even for root. */
  const nowhere = (): string => {
    const file = join(temporaryFolder('read-only'), 'file');
    writeFileSync(file, '');
    return join(file, 'home');
  };

  test.each([[['serve']], [['serve', '--standalone']]])(
    'is served by %j all the same, without a server, and it is said how to change that',
    async (args) => {
      const home = nowhere();
      const { code, stdout, stderr } = await run(home, args, { input: PING });
      expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
      expect(stderr).toContain(`none can be written to ${configOf(home)} (ENOTDIR)`);
      expect(stderr.match(/none can be written/g)).toHaveLength(1);
      expect(stderr).toContain('TRUNKLINE_HOME');
    },
  );

  test('with a configuration is served with it', async () => {
    const config = temporaryFolder('config');
    const file = join(config, 'trunkline', 'config.jsonc');
    mkdirSync(dirname(file));
    writeFileSync(file, '{ "mcpServers": {} }');
    const { code, stdout, stderr } = await run(nowhere(), ['serve'], {
      input: PING,
      env: { XDG_CONFIG_HOME: config },
    });
    expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
    expect(stderr).toContain('Serving in this process alone.');
  });

  test('serves over HTTP, where nobody but those who know the address can find it', async () => {
    const child = spawn(process.execPath, [program, 'serve', '--http', '127.0.0.1:0'], {
      env: environment(nowhere()),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
    const url = await found(() => /http:\/\/127\.0\.0\.1:\d+/.exec(stderr)?.[0], {
      what: 'The address',
      withinMs: 15_000,
    });
    const answer = await fetch(`${url}/healthz`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    child.kill();
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(0);
    expect(stderr).toContain('There is no admin API and no dashboard');
  });
});

describe('variables of the environment', () => {
  test('that are empty or say no set nothing', async () => {
    const home = temporaryFolder('empty');
    const env = { TRUNKLINE_STANDALONE: '0', TRUNKLINE_HTTP: '', TRUNKLINE_PROFILE: '' };
    const { code, stdout } = await run(home, ['serve', '--standalone'], { input: PING, env });
    expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: '2.0', id: 1, result: {} }]);
  });
});
