import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import {
  listToolNames,
  ReloadingGateway,
  joinedTextOf,
  isToolListChange,
} from '../../support/reloading-gateway.ts';

checkLeaks();

const within = { withinMs: 20_000 };
const pidAt = async (client: RawClient, server: string): Promise<number> =>
  JSON.parse(joinedTextOf(await client.callTool(`${server}__pid`, {}, within))).pid;

describe('changed server process', () => {
  test('changed environment: restarts only that server, and running calls finish', async () => {
    const [a, b] = [fixture('plain'), fixture('plain')];
    await using line = await ReloadingGateway.start({ mcpServers: { a, b } });
    const client = await line.client();
    await listToolNames(client);
    const before = { a: await pidAt(client, 'a'), b: await pidAt(client, 'b') };
    const calls = ['a', 'b'].map((server) =>
      client.callTool(`${server}__slow`, { ms: 2500, text: `of ${server}` }, within),
    );
    for (const entry of [a, b])
      await fixtureLog(entry).waitFor(({ event, tool }) => event === 'call' && tool === 'slow');
    line.write({ mcpServers: { a, b: { ...b, env: { ...b.env, FLAVOUR: 'new' } } } });
    const flavour = async (): Promise<unknown> =>
      JSON.parse(joinedTextOf(await client.callTool('b__env', { names: ['FLAVOUR'] }, within)));
    await eventually(async () => JSON.stringify(await flavour()) === '{"FLAVOUR":"new"}', {
      what: 'The new environment',
      withinMs: 20_000,
    });
    expect((await Promise.all(calls)).map(joinedTextOf)).toEqual(['of a', 'of b']);
    const after = { a: await pidAt(client, 'a'), b: await pidAt(client, 'b') };
    expect(after.a).toBe(before.a);
    expect(after.b).not.toBe(before.b);
    await eventually(() => !isRunning(before.b), { what: 'The end of the old process', withinMs: 15_000 });
  });

  test('changed environment: a changed secret file restarts only the server that refers to it', async () => {
    const [a, b] = [fixture('plain'), fixture('plain')];
    const key = join(mkdtempSync(join(tmpdir(), 'trunkline-key-')), 'key');
    writeFileSync(key, 'first\n');
    await using line = await ReloadingGateway.start({
      mcpServers: { a, b: { ...b, env: { ...b.env, FLAVOUR: `\${file:${key}}` } } },
    });
    const client = await line.client();
    await listToolNames(client);
    const before = await pidAt(client, 'a');
    const flavour = async (): Promise<unknown> =>
      JSON.parse(joinedTextOf(await client.callTool('b__env', { names: ['FLAVOUR'] }, within)));
    expect(await flavour()).toEqual({ FLAVOUR: 'first' });
    // Replaced atomically, as secret files usually are.
    writeFileSync(`${key}.new`, 'second\n');
    renameSync(`${key}.new`, key);
    await eventually(async () => JSON.stringify(await flavour()) === '{"FLAVOUR":"second"}', {
      what: 'The new key',
      withinMs: 20_000,
    });
    expect(await pidAt(client, 'a')).toBe(before);
    expect(line.gateway.stderr()).not.toMatch(/first|second/);
    rmSync(dirname(key), { recursive: true });
  });

  test('changed arguments: the old process ends before the new one serves', async () => {
    const a = fixture('plain');
    await using line = await ReloadingGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await listToolNames(client);
    const before = await pidAt(client, 'a');
    line.write({ mcpServers: { a: { ...a, args: [...a.args, '--other'] } } });
    const after = await eventually(
      async () => {
        const pid = await pidAt(client, 'a');
        return pid !== before && pid;
      },
      { what: 'The new process', withinMs: 15_000 },
    );
    expect([isRunning(before), isRunning(after)]).toEqual([false, true]);
  });
});

describe('changed server settings', () => {
  test('changed settings: keep the process and notify clients of changed tools', async () => {
    const a = fixture('plain');
    await using line = await ReloadingGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await client.listen();
    expect(await listToolNames(client)).toContain('a__add');
    const before = await pidAt(client, 'a');
    const notification = client.notifications.next(isToolListChange, within);
    line.write({ mcpServers: { a: { ...a, tools: { deny: ['add'] }, timeouts: { call: '2s' } } } });
    await notification;
    await eventually(async () => !(await listToolNames(client)).includes('a__add'), {
      what: 'The rule',
      withinMs: 15_000,
    });
    await expect(client.callTool('a__add', { a: 1, b: 2 })).rejects.toThrow('Unknown tool');
    expect(await client.callTool('a__slow', { ms: 60_000 }, within)).toMatchObject({
      isError: true,
      _meta: { 'trunkline/code': 'CALL_TIMEOUT' },
    });
    expect(await pidAt(client, 'a')).toBe(before);
  });
});

describe('removed server', () => {
  test(
    'removed server: finishes running calls, disappears, and does not disturb other servers',
    { tags: ['slow'] },
    async () => {
      const [a, b] = [fixture('plain'), fixture('plain')];
      await using line = await ReloadingGateway.start({ mcpServers: { a, b } });
      const client = await line.client();
      await listToolNames(client);
      const pid = await pidAt(client, 'b');
      let isOver = false;
      const outcomes: string[] = [];
      const load = Array.from({ length: 8 }, async (_, at) => {
        const server = at % 2 === 0 ? 'a' : 'b';
        while (!isOver) {
          const text = `${server} ${Math.random()}`;
          const outcome = await client.callTool(`${server}__slow`, { ms: 20, text }, within).then(
            (result) => (joinedTextOf(result) === text ? 'answered' : joinedTextOf(result)),
            (error: unknown) => String(error),
          );
          outcomes.push(`${server}: ${outcome}`);
        }
      });
      const long = client.callTool('b__slow', { ms: 2000, text: 'to the end' }, within);
      await fixtureLog(b).waitFor(
        ({ event, arguments: given }) =>
          event === 'call' && (given as { text?: string } | undefined)?.text === 'to the end',
      );
      line.write({ mcpServers: { a } });
      await eventually(() => outcomes.some((outcome) => outcome.includes('Unknown tool')), {
        what: 'The first refusal',
        withinMs: 15_000,
      });
      expect(joinedTextOf(await long)).toBe('to the end');
      isOver = true;
      await Promise.all(load);
      const ofA = new Set(outcomes.filter((outcome) => outcome.startsWith('a: ')));
      const ofB = new Set(outcomes.filter((outcome) => outcome.startsWith('b: ')));
      expect(ofA).toEqual(new Set(['a: answered']));
      expect([...ofB].filter((text) => text !== 'b: answered' && !text.includes('Unknown tool'))).toEqual([]);
      expect((await listToolNames(client)).filter((name) => name.startsWith('b__'))).toEqual([]);
      await eventually(() => !isRunning(pid), { what: 'The end of b', withinMs: 15_000 });
      expect((await line.status()).servers.map(({ name }) => name)).toEqual(['a']);
      expect((await line.command('search', 'slow', '--json')).stdout).not.toContain('b__');
    },
  );

  test('removed server: needs approval again when it returns', { tags: ['slow'] }, async () => {
    const [a, b] = [fixture('plain'), { ...fixture('plain'), trust: 'manual' }];
    await using line = await ReloadingGateway.start({ mcpServers: { a, b } });
    const client = await line.client();
    const isHeld = async (): Promise<boolean> =>
      (await line.status()).servers.find(({ name }) => name === 'b')?.state === 'held';
    await eventually(isHeld, { what: 'b is held', withinMs: 15_000 });
    expect(await line.command('approvals', 'accept', 'b', '--all')).toMatchObject({ code: 0 });
    await eventually(async () => (await listToolNames(client)).includes('b__echo'), {
      what: 'The approved tools of b',
      withinMs: 15_000,
    });
    line.write({ mcpServers: { a } });
    await eventually(async () => (await line.status()).servers.length === 1, {
      what: 'b is gone',
      withinMs: 15_000,
    });
    line.write({ mcpServers: { a, b } });
    await eventually(isHeld, { what: 'b is held again', withinMs: 15_000 });
  });

  test('removed server: loses its tokens', { tags: ['slow'] }, async () => {
    const a = fixture('plain');
    const it = { url: 'http://127.0.0.1:9/mcp' };
    await using line = await ReloadingGateway.start({ mcpServers: { a, it } });
    const signedIn = async (): Promise<string> => (await line.command('auth', '--json')).stdout;
    await line.login('it', 'a-token');
    expect(await signedIn()).toContain('"signed-in"');
    line.write({ mcpServers: { a } });
    await eventually(async () => (await line.status()).servers.length === 1, {
      what: 'it is gone',
      withinMs: 15_000,
    });
    line.write({ mcpServers: { a, it } });
    await eventually(async () => (await line.status()).servers.length === 2, {
      what: 'it is back',
      withinMs: 15_000,
    });
    expect(await signedIn()).not.toContain('"signed-in"');
  });

  test('disabled server: keeps its tokens and approvals, as does one with an invalid entry', async () => {
    const a = fixture('plain');
    const b = { ...fixture('plain'), trust: 'manual' };
    const it = { url: 'http://127.0.0.1:9/mcp' };
    await using line = await ReloadingGateway.start({ mcpServers: { a, b, it } });
    const client = await line.client();
    await line.login('it', 'a-token');
    const used = async (): Promise<readonly string[]> =>
      (await line.status()).servers.flatMap(({ name, state }) => (state === 'disabled' ? [] : [name]));
    const untilUsed = (expected: readonly string[]): Promise<void> =>
      eventually(async () => expect(await used()).toEqual(expected), { withinMs: 15_000 });
    await untilUsed(['a', 'b', 'it']);
    expect(await line.command('approvals', 'accept', 'b', '--all')).toMatchObject({ code: 0 });
    const isOffered = async (): Promise<boolean> => (await listToolNames(client)).includes('b__echo');
    await eventually(isOffered, { what: 'The approved tools of b', withinMs: 15_000 });
    for (const change of [{ enabled: false }, { ulr: 'x' }]) {
      line.write({ mcpServers: { a, b: { ...b, ...change }, it: { ...it, ...change } } });
      await untilUsed(['a']);
      expect(await isOffered()).toBe(false);
    }
    line.write({ mcpServers: { a, b, it } });
    await eventually(isOffered, { what: 'The tools of b without another approval', withinMs: 15_000 });
    await untilUsed(['a', 'b', 'it']);
    expect((await line.command('auth', '--json')).stdout).toContain('"signed-in"');
  });
});
