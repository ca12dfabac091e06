import { join } from 'node:path';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { rpcErrorOf, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning, runningProcesses } from '../../support/processes.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const text = (result: { content?: unknown }): string =>
  (result.content as { text: string }[]).map((part) => part.text).join('');

describe('killed gateway', () => {
  test('shared gateway: survives a client that ends all descendants of its serve process', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const ending = await home.pipe();
    await (await ending.client()).listTools();
    const other = await (await home.pipe()).client();
    const gateway = home.pid;
    const slow = other.callTool('plain__slow', { ms: 1000 });
    await fixtureLog(plain).waitFor('call');
    for (const pid of [...descendantsOf(ending.pid), ending.pid]) process.kill(pid, 'SIGKILL');
    await ending.exited;
    expect(await slow).not.toHaveProperty('isError', true);
    expect(home.pid).toBe(gateway);
  });

  test('killed gateway: is replaced, and calls in flight fail with GATEWAY_LOST', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const pipe = await home.pipe();
    const client = await pipe.client();
    const before = home.pid;
    const slow = client.callTool('plain__slow', { ms: 60_000 });
    await fixtureLog(plain).waitFor('call');
    client.notifications.all.length = 0; // Discards the notifications of the first listing.
    const told = client.notifications.next(({ method }) => method === 'notifications/tools/list_changed');
    process.kill(before, 'SIGKILL');
    expect(await slow).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'GATEWAY_LOST' } });
    await told;
    expect(text(await client.callTool('plain__echo', { text: 'again' }))).toBe('again');
    expect(home.pid).not.toBe(before);
    expect(client.strays.all).toEqual([]);
  });

  test('killed gateway: is replaced by one with the current configuration', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const client = await (await home.pipe()).client();
    await client.listTools();
    const config = join(home.home, 'config.jsonc');
    writeFileSync(config, JSON.stringify({ mcpServers: { plain, added: fixture('plain') } }));
    await waitForTool(client, 'added__echo');
    const told = client.notifications.next(({ method }) => method === 'notifications/tools/list_changed', {
      withinMs: 20_000,
    });
    process.kill(home.pid, 'SIGKILL');
    await told;
    expect(text(await client.callTool('added__echo', { text: 'there' }))).toBe('there');
    expect(client.strays.all).toEqual([]);
  });

  test('killed gateway: fails all pending requests when no successor can start', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const pipe = await home.pipe();
    const client = await pipe.client();
    await client.listTools();
    const slow = client.callTool('plain__slow', { ms: 60_000 });
    await fixtureLog(plain).waitFor('call');
    writeFileSync(join(home.home, 'config.jsonc'), 'no JSON at all');
    process.kill(home.pid, 'SIGKILL');
    const listed = rpcErrorOf(client.request('tools/list'));
    expect(await slow).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'GATEWAY_LOST' } });
    expect(await listed).toMatchObject({ data: { code: 'GATEWAY_UNAVAILABLE' } });
    expect(await pipe.exited).toMatchObject({ code: 3 });
    await client.close();
    rmSync(home.run, { recursive: true }); // There is no next gateway that would remove it.
  });

  test('killed gateway: hands the log level and subscriptions of its client to its successor', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const client = await (await home.pipe()).client();
    await client.listTools();
    await client.request('logging/setLevel', { level: 'debug' });
    await client.request('resources/subscribe', { uri: 'fixture://text' });
    client.notifications.all.length = 0; // Discards the notifications of the first listing.
    const news = client.notifications.next(({ method }) => method === 'notifications/tools/list_changed');
    process.kill(home.pid, 'SIGKILL');
    await news;
    const said = client.notifications.next(({ method }) => method === 'notifications/message');
    await client.callTool('plain__log', { level: 'info', text: 'hello' });
    expect((await said).params).toMatchObject({ level: 'info' });
    const updated = client.notifications.next(({ method }) => method === 'notifications/resources/updated');
    await client.callTool('plain__touch', { uri: 'fixture://text' });
    expect((await updated).params).toMatchObject({ uri: 'fixture://text' });
  });

  test('killed gateway: has a pending list request repeated at its successor', async () => {
    await using home = new SharedHome({
      mcpServers: { never: fixture('never-answers') },
      config: { startup: { listWait: '3s' } },
    });
    const pipe = await home.pipe();
    const client = await pipe.client();
    const listed = client.request('tools/list', {}, { withinMs: 30_000 });
    await client.request('ping');
    const before = home.pid;
    process.kill(before, 'SIGKILL');
    // The next gateway answers it, because its wait for that server has its own limit.
    await eventually(() => home.record() !== undefined && home.pid !== before, {
      what: 'A new gateway',
      withinMs: 15_000,
    });
    expect(await listed).toHaveProperty('tools');
  });
});

describe('stopped gateway', () => {
  test('stopped gateway: finishes running calls and restarts only on the next request', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const client = await (await home.pipe()).client();
    const before = home.pid;
    const slow = client.callTool('plain__slow', { ms: 500 });
    await fixtureLog(plain).waitFor('call');
    process.kill(before, 'SIGTERM');
    expect(await slow).not.toHaveProperty('isError', true);
    await eventually(() => !isRunning(before), { what: 'The end of the gateway' });
    expect(home.gateways()).toEqual([]);
    expect(home.record()).toBeUndefined();
    expect(text(await client.callTool('plain__echo', { text: 'back' }))).toBe('back');
    expect(home.gateways()).toHaveLength(1);
  });

  test('stop command: returns after the gateway has exited', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    await (await home.pipe()).client();
    const { pid } = home;
    const { code, stdout } = await home.command('stop', '--json');
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, stopped: true, pid });
    expect(isRunning(pid)).toBe(false);
    expect(JSON.parse((await home.command('stop', '--json')).stdout)).toMatchObject({ stopped: false });
  });
});

describe('stdio client', () => {
  test('stdio client: gets pending responses after it closes its input', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain } });
    const pipe = await home.pipe();
    const client = await pipe.client();
    await client.sendText(
      '{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"plain__slow","arguments":{"ms":300}}}',
    );
    await client.close();
    expect(await pipe.exited).toEqual({ code: 0, signal: null });
    expect(client.rawLines.at(-1)).toContain('"id":"last","result"');
  });

  test('stdio client: has its calls cancelled when it is killed', async () => {
    const plain = fixture('plain');
    await using home = new SharedHome({ mcpServers: { plain }, config: { shutdown: '300ms' } });
    const pipe = await home.pipe();
    const client = await pipe.client();
    const slow = client.callTool('plain__slow', { ms: 60_000 }).catch((error: unknown) => error);
    await fixtureLog(plain).waitFor('call');
    await pipe.kill();
    await fixtureLog(plain).waitFor('cancelled');
    expect(await slow).toBeInstanceOf(Error);
    const { stdout } = await home.command('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ running: true, clients: 0 });
  });

  test('stdio client: exits on request and leaves the gateway running', async () => {
    await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
    const pipe = await home.pipe();
    await pipe.client();
    await pipe.stop();
    expect(await pipe.exited).toEqual({ code: 0, signal: null });
    expect(isRunning(home.pid)).toBe(true);
    expect(readFileSync(join(home.home, 'state', 'logs', 'gateway.log'), 'utf8')).not.toContain(
      '"level":"error"',
    );
  });
});

function descendantsOf(ancestor: number): readonly number[] {
  const processes = runningProcesses();
  const childrenOf = (parent: number): number[] =>
    processes.filter((one) => one.parent === parent).flatMap(({ pid }) => [...childrenOf(pid), pid]);
  return childrenOf(ancestor);
}
