import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import {
  listToolNames,
  ReloadingGateway,
  isToolListChange,
  WRITE_METHODS,
} from '../../support/reloading-gateway.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { startGateway } from '../../support/gateway.ts';

checkLeaks();

/** Waits until a client sees the tools of a server. */
const waitForTools = (client: RawClient, server: string): Promise<boolean> =>
  eventually(async () => hasEcho(server, await listToolNames(client)), {
    what: `The tools of ${server}`,
    withinMs: 20_000,
  });
const hasEcho = (name: string, list: readonly string[]): boolean => list.includes(`${name}__echo`);

describe('added server', () => {
  test.each(Object.keys(WRITE_METHODS))(
    'added server: is announced and callable after the file is %s',
    async (way) => {
      const servers = { a: fixture('plain') };
      await using line = await ReloadingGateway.start({ mcpServers: servers });
      const client = await line.client();
      await client.listen();
      expect(hasEcho('b', await listToolNames(client))).toBe(false);
      const notification = client.notifications.next(isToolListChange, { withinMs: 15_000 });
      line.write({ mcpServers: { ...servers, b: fixture('plain') } }, WRITE_METHODS[way]);
      await notification;
      expect(await waitForTools(client, 'b')).toBe(true);
      expect(await client.callTool('b__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
      expect((await line.status()).configProblem).toBeUndefined();
    },
  );

  test.each(['legacy', 'modern'] as const)(
    'added server: notifies a %s HTTP client of it and of its removal',
    async (era) => {
      const servers = { a: fixture('plain') };
      await using line = await ReloadingGateway.start({ mcpServers: servers });
      const client = await line.client({ era });
      await listToolNames(client);
      await client.listen();
      const notification = client.notifications.next(isToolListChange, { withinMs: 15_000 });
      line.write({ mcpServers: { ...servers, b: fixture('plain') } });
      await notification;
      expect(await waitForTools(client, 'b')).toBe(true);
      const secondNotification = client.notifications.next(isToolListChange, { withinMs: 15_000 });
      line.write({ mcpServers: servers });
      await secondNotification;
      await eventually(async () => !hasEcho('b', await listToolNames(client)), {
        what: 'The end of b',
        withinMs: 15_000,
      });
    },
  );

  test.each(['legacy', 'modern'] as const)(
    'added server: notifies a %s stdio client of the shared gateway, which keeps running',
    async (era) => {
      const servers = { a: fixture('plain') };
      await using home = new SharedHome({ mcpServers: servers });
      const pipe = await home.pipe();
      const client = await pipe.client({ era });
      await listToolNames(client);
      await client.listen();
      const { pid, record } = { pid: home.pid, record: home.record() };
      const notification = client.notifications.next(isToolListChange, { withinMs: 15_000 });
      const moreServers = { ...servers, b: fixture('plain') };
      // A client that connects during the change does not start another gateway.
      const second = await home.pipe({ mcpServers: moreServers });
      await notification;
      expect(await waitForTools(client, 'b')).toBe(true);
      const other = await second.client({ era });
      expect(await waitForTools(other, 'b')).toBe(true);
      expect([home.pid, home.gateways()]).toEqual([pid, [pid]]);
      expect(home.record()?.['revision']).not.toBe(record?.['revision']);
    },
  );

  test('added server: notifies the client of a standalone stdio gateway', async () => {
    const servers = { a: fixture('plain') };
    await using gateway = await startGateway({ mcpServers: servers });
    const client = await gateway.client();
    await listToolNames(client);
    const notification = client.notifications.next(isToolListChange, { withinMs: 15_000 });
    writeFileSync(gateway.configFile, JSON.stringify({ mcpServers: { ...servers, b: fixture('plain') } }));
    await notification;
    expect(await waitForTools(client, 'b')).toBe(true);
    await client.close();
  });
});

describe('config file', () => {
  test('config file: is watched through a symbolic link', async () => {
    const servers = { a: fixture('plain') };
    await using line = await ReloadingGateway.start({ mcpServers: servers });
    const client = await line.client();
    await listToolNames(client);
    const real = join(line.home.home, 'dotfiles.jsonc');
    writeFileSync(real, JSON.stringify({ mcpServers: servers }));
    unlinkSync(line.file);
    symlinkSync(real, line.file);
    writeFileSync(real, JSON.stringify({ mcpServers: { ...servers, b: fixture('plain') } }));
    expect(await waitForTools(client, 'b')).toBe(true);
  });

  test('config file: a deleted file changes nothing, and a new one applies again', async () => {
    const servers = { a: fixture('plain') };
    await using line = await ReloadingGateway.start({ mcpServers: servers });
    const client = await line.client();
    await listToolNames(client);
    unlinkSync(line.file);
    await eventually(async () => (await line.status()).configProblem?.code === 'CONFIG_NOT_FOUND', {
      what: 'The problem',
      withinMs: 15_000,
    });
    expect(await client.callTool('a__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    line.write({ mcpServers: { ...servers, b: fixture('plain') } });
    expect(await waitForTools(client, 'b')).toBe(true);
    expect((await line.status()).configProblem).toBeUndefined();
  });

  test('config file: after fifty rapid changes, the last one applies', async () => {
    const a = fixture('plain');
    await using line = await ReloadingGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await listToolNames(client);
    const ways = Object.values(WRITE_METHODS);
    for (let at = 1; at <= 50; at++) {
      const text =
        at % 7 === 0
          ? '{ "mcpServers": {'
          : JSON.stringify({ mcpServers: { a, [`s${at}`]: fixture('plain') } });
      line.write(text, ways[at % ways.length]);
      if (at % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 120));
    }
    expect(await waitForTools(client, 's50')).toBe(true);
    const { servers, configProblem } = await line.status();
    expect([servers.map(({ name }) => name), configProblem]).toEqual([['a', 's50'], undefined]);
    expect(new Set((await listToolNames(client)).map((name) => name.split('__')[0]))).toEqual(
      new Set(['a', 's50']),
    );
  });
});
