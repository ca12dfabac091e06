import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import type { RawClient } from '../support/raw-client.ts';
import { names, ReloadedGateway, TOOLS_CHANGED, WAYS } from '../support/reloaded.ts';
import { SharedHome } from '../support/shared-home.ts';
import { startGateway } from '../support/gateway.ts';

checkLeaks();

/** Waits until a client is shown the tools of a server. */
const tools = (client: RawClient, server: string): Promise<boolean> =>
  eventually(async () => isWith(server, await names(client)), {
    what: `The tools of ${server}`,
    withinMs: 20_000,
  });
const isWith = (name: string, list: readonly string[]): boolean => list.includes(`${name}__echo`);

describe('a server is added while clients are connected', () => {
  test.each(Object.keys(WAYS))('and the file is %s', async (way) => {
    const servers = { a: fixture('plain') };
    await using line = await ReloadedGateway.start({ mcpServers: servers });
    const client = await line.client();
    await client.listen();
    expect(isWith('b', await names(client))).toBe(false);
    const told = client.notifications.next(TOOLS_CHANGED, { withinMs: 15_000 });
    line.write({ mcpServers: { ...servers, b: fixture('plain') } }, WAYS[way]);
    await told;
    expect(await tools(client, 'b')).toBe(true);
    expect(await client.callTool('b__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    expect((await line.status()).configProblem).toBeUndefined();
  });

  test.each(['legacy', 'modern'] as const)('and a %s client over HTTP hears of it', async (era) => {
    const servers = { a: fixture('plain') };
    await using line = await ReloadedGateway.start({ mcpServers: servers });
    const client = await line.client({ era });
    await names(client);
    await client.listen();
    const told = client.notifications.next(TOOLS_CHANGED, { withinMs: 15_000 });
    line.write({ mcpServers: { ...servers, b: fixture('plain') } });
    await told;
    expect(await tools(client, 'b')).toBe(true);
    const goes = client.notifications.next(TOOLS_CHANGED, { withinMs: 15_000 });
    line.write({ mcpServers: servers });
    await goes;
    await eventually(async () => !isWith('b', await names(client)), {
      what: 'The end of b',
      withinMs: 15_000,
    });
  });

  test.each(['legacy', 'modern'] as const)('and a %s client at a pipe hears of it', async (era) => {
    const servers = { a: fixture('plain') };
    await using home = new SharedHome({ mcpServers: servers });
    const pipe = await home.pipe();
    const client = await pipe.client({ era });
    await names(client);
    await client.listen();
    const { pid, record } = { pid: home.pid, record: home.record() };
    const told = client.notifications.next(TOOLS_CHANGED, { withinMs: 15_000 });
    const more = { ...servers, b: fixture('plain') };
    // Whoever comes in the very moment of the change is no reason for another gateway.
    const second = await home.pipe({ mcpServers: more });
    await told;
    expect(await tools(client, 'b')).toBe(true);
    const other = await second.client({ era });
    expect(await tools(other, 'b')).toBe(true);
    expect([home.pid, home.gateways()]).toEqual([pid, [pid]]);
    expect(home.record()?.['revision']).not.toBe(record?.['revision']);
  });

  test('and a client of standard input and output hears of it', async () => {
    const servers = { a: fixture('plain') };
    await using gateway = await startGateway({ mcpServers: servers });
    const client = await gateway.client();
    await names(client);
    const told = client.notifications.next(TOOLS_CHANGED, { withinMs: 15_000 });
    writeFileSync(gateway.configFile, JSON.stringify({ mcpServers: { ...servers, b: fixture('plain') } }));
    await told;
    expect(await tools(client, 'b')).toBe(true);
    await client.close();
  });
});

describe('the file', () => {
  test('may be a link into another folder', async () => {
    const servers = { a: fixture('plain') };
    await using line = await ReloadedGateway.start({ mcpServers: servers });
    const client = await line.client();
    await names(client);
    const real = join(line.home.home, 'dotfiles.jsonc');
    writeFileSync(real, JSON.stringify({ mcpServers: servers }));
    unlinkSync(line.file);
    symlinkSync(real, line.file);
    writeFileSync(real, JSON.stringify({ mcpServers: { ...servers, b: fixture('plain') } }));
    expect(await tools(client, 'b')).toBe(true);
  });

  test('that vanishes changes nothing, and counts again when it is back', async () => {
    const servers = { a: fixture('plain') };
    await using line = await ReloadedGateway.start({ mcpServers: servers });
    const client = await line.client();
    await names(client);
    unlinkSync(line.file);
    await eventually(async () => (await line.status()).configProblem?.code === 'CONFIG_NOT_FOUND', {
      what: 'The problem',
      withinMs: 15_000,
    });
    expect(await client.callTool('a__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    line.write({ mcpServers: { ...servers, b: fixture('plain') } });
    expect(await tools(client, 'b')).toBe(true);
    expect((await line.status()).configProblem).toBeUndefined();
  });

  test('that is changed fifty times in a row ends with the last change', async () => {
    const a = fixture('plain');
    await using line = await ReloadedGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await names(client);
    const ways = Object.values(WAYS);
    for (let at = 1; at <= 50; at++) {
      const text =
        at % 7 === 0
          ? '{ "mcpServers": {'
          : JSON.stringify({ mcpServers: { a, [`s${at}`]: fixture('plain') } });
      line.write(text, ways[at % ways.length]);
      if (at % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 120));
    }
    expect(await tools(client, 's50')).toBe(true);
    const { servers, configProblem } = await line.status();
    expect([servers.map(({ name }) => name), configProblem]).toEqual([['a', 's50'], undefined]);
    expect(new Set((await names(client)).map((name) => name.split('__')[0]))).toEqual(new Set(['a', 's50']));
  });
});
