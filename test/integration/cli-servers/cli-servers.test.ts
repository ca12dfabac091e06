import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { rpcErrorOf, textOfResult } from '../../support/client-helpers.ts';
import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const programs = fileURLToPath(new URL('../../support/servers/cli-programs/', import.meta.url));

interface Opened extends AsyncDisposable {
  readonly client: RawClient;
  readonly gateway: RunningGateway;
  /** How often the program was started, and with which arguments. */
  readonly started: () => readonly unknown[];
}

async function open(
  cli: unknown = true,
  options: {
    readonly home?: string;
    readonly script?: string;
    readonly entry?: object;
    readonly servers?: object;
  } = {},
): Promise<Opened> {
  const home = options.home ?? temporaryFolder('trunkline-home');
  const log = join(home, 'boxes.log');
  const boxes = {
    command: process.execPath,
    args: [options.script ?? join(programs, 'boxes.mjs')],
    env: { BOXES_LOG: log },
    cli,
    ...options.entry,
  };
  const gateway = await startGateway({
    home,
    mcpServers: { boxes, ...options.servers },
    config: { startup: { listWait: '30s' } },
  });
  const client = await gateway.client();
  const lines = (): readonly string[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  return {
    client,
    gateway,
    started: () => lines().map((line) => JSON.parse(line) as unknown),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

async function toolNames({ client }: Opened): Promise<readonly string[]> {
  return (await client.listTools()).map(({ name }) => name).toSorted();
}

function pidsOf(started: readonly unknown[]): readonly number[] {
  return started.flatMap((one) => (one as { pids?: number[] }).pids ?? []);
}

describe('cli server', () => {
  test('cli server: exposes commands as tools with typed parameters, including nested commands', async () => {
    await using line = await open();
    const tools = await line.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'boxes__admin_status',
      'boxes__admin_wipe',
      'boxes__binary',
      'boxes__fail',
      'boxes__flood',
      'boxes__hang',
      'boxes__leave',
      'boxes__list',
      'boxes__picture',
      'boxes__show_env',
      'boxes__stdin',
    ]);
    const list = tools.find(({ name }) => name === 'boxes__list');
    expect(list).toMatchObject({
      title: 'boxes list',
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          name: { type: 'array', items: { type: 'string' } },
          colour: { type: 'string', enum: ['red', 'blue'] },
          max: { type: 'integer' },
          tag: { type: 'array' },
          empty: { type: 'boolean' },
          long: { type: 'boolean' },
        },
      },
    });
    const result = await line.client.callTool('boxes__list', {
      name: ['a b', '-x'],
      colour: 'red',
      max: 3,
      tag: ['t', '-u'],
      empty: false,
      long: true,
    });
    expect(JSON.parse(textOfResult(result))).toEqual([
      'list',
      '--colour=red',
      '--max=3',
      '--tag=t',
      '--tag=-u',
      '--no-empty',
      '--long',
      '--',
      'a b',
      '-x',
    ]);
    expect(textOfResult(await line.client.callTool('boxes__show_env'))).toBe('{"PAGER":"cat","TERM":"dumb"}');
    expect(textOfResult(await line.client.callTool('boxes__stdin'))).toBe('0 bytes\n');
    expect(await line.client.request('ping')).toEqual({});
  });

  test(
    'cli server: a failure is an error result with both outputs and the exit code',
    { tags: ['slow'] },
    async () => {
      await using line = await open();
      const result = await line.client.callTool('boxes__fail');
      expect(result).toMatchObject({ isError: true, _meta: { 'trunkline/exitCode': 3 } });
      expect(result.content.map((one) => (one as { text: string }).text)).toEqual([
        'half of it\n',
        '--- standard error ---\nit broke\n',
        '[Exit code 3.]',
      ]);
      const unfit = await line.client.callTool('boxes__list', { colour: 'green' });
      expect(unfit).toMatchObject({ isError: true });
      expect(textOfResult(unfit)).toContain('must be one of red, blue');
    },
  );

  test(
    'cli server: truncates long output with a note, and returns binary data and images as such',
    { tags: ['slow'] },
    async () => {
      await using line = await open({ maxOutput: 2000 });
      const flood = await line.client.callTool('boxes__flood');
      const [text, note] = flood.content.map((one) => (one as { text: string }).text);
      // A character that would be split is left out.
      expect(text).toBe(`${'é'.repeat(500)}\n${'é'.repeat(499)}`);
      expect(note).toBe('[Only the first 2000 of 3003000 bytes of standard output are shown.]');
      expect((await line.client.callTool('boxes__binary')).content).toEqual([
        {
          type: 'resource',
          resource: { uri: 'cli:stdout', mimeType: 'application/octet-stream', blob: 'AAEC/wA=' },
        },
      ]);
      expect((await line.client.callTool('boxes__picture')).content).toMatchObject([
        { type: 'image', mimeType: 'image/png' },
      ]);
    },
  );

  test(
    'cli server: cancelling kills the program and its children, even if they ignore SIGTERM',
    { tags: ['slow'] },
    async () => {
      await using line = await open();
      await line.client.listTools();
      const controller = new AbortController();
      const call = line.client
        .request('tools/call', { name: 'boxes__hang', arguments: {} }, { signal: controller.signal })
        .catch((error: unknown) => error);
      const pids = await eventually(() => {
        const found = pidsOf(line.started());
        return found.length === 2 ? found : false;
      });
      controller.abort();
      expect(await call).toBeInstanceOf(Error);
      await eventually(() => pids.every((pid) => !isRunning(pid)), { withinMs: 10_000 });
    },
  );

  test('cli server: a timeout kills the process tree and is reported', { tags: ['slow'] }, async () => {
    await using line = await open(true, { entry: { timeouts: { call: '2s' } } });
    await line.client.listTools();
    const result = await line.client.callTool('boxes__hang');
    expect(result).toMatchObject({ isError: true });
    expect(textOfResult(result)).toMatch(/2 s|time/i);
    const pids = pidsOf(line.started());
    expect(pids).toHaveLength(2);
    await eventually(() => pids.every((pid) => !isRunning(pid)), { withinMs: 10_000 });
  });

  test(
    'cli server: leftover child processes neither delay the result nor keep running',
    { tags: ['slow'] },
    async () => {
      await using line = await open();
      expect(textOfResult(await line.client.callTool('boxes__leave'))).toBe('left\n');
      const pids = pidsOf(line.started());
      await eventually(() => pids.every((pid) => !isRunning(pid)), { withinMs: 10_000 });
    },
  );

  test('cli server: stopping the gateway ends running programs', { tags: ['slow'] }, async () => {
    const line = await open();
    await line.client.listTools();
    void line.client.callTool('boxes__hang').catch(() => {});
    const pids = await eventually(() => {
      const found = pidsOf(line.started());
      return found.length === 2 ? found : false;
    });
    await line.client.close();
    await line.gateway.exited;
    await line.gateway[Symbol.asyncDispose]();
    expect(pids.filter(isRunning)).toEqual([]);
  });
});

describe('tools of a cli server', () => {
  test('cli tools: cli.only limits which commands are visible and callable', async () => {
    await using line = await open({ only: ['list', 'admin status'] });
    expect(await toolNames(line)).toEqual(['boxes__admin_status', 'boxes__list']);
    expect(await rpcErrorOf(line.client.callTool('boxes__admin_wipe'))).toMatchObject({ message: /-32602/ });
    expect(await rpcErrorOf(line.client.callTool('boxes__fail'))).toMatchObject({ message: /-32602/ });
    // The help of other commands is not requested.
    const asked = line.started().map((args) => (args as string[]).join(' '));
    expect(asked.toSorted()).toEqual(['--help', 'admin --help', 'admin status --help', 'list --help']);
  });

  test('cli tools: depth 1 skips the help of subcommands and takes plain arguments', async () => {
    await using line = await open({ depth: 1 });
    expect(await toolNames(line)).toContain('boxes__admin');
    expect(line.started()).toEqual([['--help']]);
    expect(textOfResult(await line.client.callTool('boxes__list', { args: ['x'] }))).toBe('["list","x"]');
  });

  test('cli tools: preset tools replace discovery', async () => {
    const tools = [
      {
        name: 'red',
        args: ['list', '--colour=red'],
        parameters: { max: { type: 'integer', flag: '--max=' } },
      },
      // Without arguments, it runs the program alone.
      { name: 'bare', args: [] },
    ];
    await using line = await open({ tools });
    expect(await toolNames(line)).toEqual(['boxes__bare', 'boxes__red']);
    expect(line.started()).toEqual([]);
    expect(textOfResult(await line.client.callTool('boxes__red', { max: 2 }))).toBe(
      '["list","--colour=red","--max=2"]',
    );
    await line.client.callTool('boxes__bare');
    expect(line.started().at(-1)).toEqual([]);
  });

  test(
    'cli tools: include a command whose help hangs, and add no subcommands from repeated help',
    { tags: ['slow'] },
    async () => {
      await using line = await open({ depth: 4 }, { script: join(programs, 'slow-help.mjs') });
      await eventually(
        async () => expect(await toolNames(line)).toEqual(['boxes__again', 'boxes__quick', 'boxes__stuck']),
        {
          withinMs: 25_000,
        },
      );
    },
  );
});

describe('discovery cache', () => {
  test('cli discovery: is cached across restarts until the program changes', { tags: ['slow'] }, async () => {
    const home = temporaryFolder('trunkline-home');
    const script = join(home, 'boxes.mjs');
    copyFileSync(join(programs, 'boxes.mjs'), script);
    {
      await using line = await open(true, { home, script });
      expect(await toolNames(line)).toContain('boxes__list');
    }
    const log = join(home, 'boxes.log');
    const first = readFileSync(log, 'utf8').trim().split('\n').length;
    expect(readdirSync(join(home, 'state'), { recursive: true }).join(' ')).toContain('cli-tools');
    {
      await using line = await open(true, { home, script });
      expect(textOfResult(await line.client.callTool('boxes__list'))).toBe('["list"]');
      expect(line.started()).toHaveLength(first + 1);
    }
    writeFileSync(script, readFileSync(script, 'utf8').replace('  fail      Fail', '  lose      Lose'));
    utimesSync(script, new Date(), new Date(Date.now() + 5000));
    {
      await using line = await open(true, { home, script });
      // New tools may await approval; removed tools disappear.
      await eventually(async () => expect(await toolNames(line)).not.toContain('boxes__fail'), {
        withinMs: 15_000,
      });
      expect(line.started().length).toBeGreaterThan(first + 5);
    }
  });

  test('cli discovery: runs again only when refresh names the server', { tags: ['slow'] }, async () => {
    const log = join(temporaryFolder(), 'boxes.log');
    const args = [join(programs, 'boxes.mjs')];
    const boxes = { command: process.execPath, args, env: { BOXES_LOG: log }, cli: true };
    const home = commandHome({ boxes });
    const asked = (): number => readFileSync(log, 'utf8').trim().split('\n').length;
    await home.json(['tools', 'boxes']);
    const once = asked();
    await home.json(['refresh']);
    expect(asked()).toBe(once);
    await home.json(['refresh', 'boxes']);
    expect(asked()).toBe(2 * once);
    expect(await home.json(['tools', 'boxes'])).not.toEqual([]);
    expect(asked()).toBe(2 * once);
  });
});

describe('real programs', () => {
  test('real programs: git help works outside a repository and leaves no repository behind', async () => {
    const home = commandHome({ git: { command: 'git', cli: { only: ['remote'] } } });
    const { stdout } = await home.run(['describe', 'git__remote_add', '--json']);
    expect(stdout).toContain('fetch the remote branches');
    expect(stdout).not.toContain('could not be read');
    const kept = readdirSync(join(home.home, 'state'), { recursive: true }).map(String);
    expect(kept.filter((path) => path.includes('.git'))).toEqual([]);
  });

  test('real programs: work with and without subcommands, and a missing program is reported', async () => {
    await using line = await open(
      { only: ['list'] },
      {
        servers: {
          ls: { command: 'ls', cli: true },
          grep: { command: 'grep', cli: true },
          tar: { command: 'tar', cli: true },
          git: { command: 'git', cli: { only: ['log', 'remote', 'rev-parse'], depth: 2 } },
          none: { command: 'no-such-program-anywhere', cli: true },
        },
      },
    );
    const names = await eventually(
      async () => {
        const all = await toolNames(line);
        return ['git__', 'grep__', 'ls__', 'tar__'].every((start) =>
          all.some((name) => name.startsWith(start)),
        )
          ? all
          : false;
      },
      { withinMs: 20_000 },
    );
    expect(names).toEqual(
      expect.arrayContaining([
        'grep__grep',
        'ls__ls',
        'tar__tar',
        'git__log',
        'git__remote_add',
        'git__rev_parse',
      ]),
    );
    expect(names).not.toContain('git__commit');
    expect(textOfResult(await line.client.callTool('ls__ls', { file: [programs], size: false }))).toContain(
      'boxes.mjs',
    );
    const found = await line.client.callTool('grep__grep', {
      patterns: '-not-there-',
      file: [join(programs, 'slow-help.mjs')],
    });
    expect(found).toMatchObject({ isError: true, _meta: { 'trunkline/exitCode': 1 } });
    expect(line.gateway.stderr()).toMatch(/no-such-program-anywhere.*not found/);
  });
});
