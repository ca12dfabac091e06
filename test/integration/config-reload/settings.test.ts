import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  listToolNames,
  ReloadingGateway,
  joinedTextOf,
  isToolListChange,
} from '../../support/reloading-gateway.ts';

checkLeaks();

const within = { withinMs: 20_000 };
const waitUntilApplied = (line: ReloadingGateway): Promise<unknown> =>
  eventually(() => line.gateway.stderr().includes('Applied the changed configuration.'), {
    what: 'The change is applied',
    withinMs: 15_000,
  });

describe('changed rules', () => {
  test.each(['legacy', 'modern'] as const)(
    'changed rule: hides a tool from a %s client and notifies it',
    async (era) => {
      const a = fixture('plain');
      await using line = await ReloadingGateway.start({ mcpServers: { a } });
      const client = await line.client({ era });
      await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
        what: 'The tools',
        withinMs: 15_000,
      });
      await client.listen();
      const notification = client.notifications.next(isToolListChange, within);
      line.write({ mcpServers: { a }, policy: { rules: [{ id: 'no', effect: 'deny', names: ['echo'] }] } });
      await notification;
      await eventually(async () => !(await listToolNames(client)).includes('a__echo'), {
        what: 'The rule',
        withinMs: 15_000,
      });
      await expect(client.callTool('a__echo', { text: 'hi' })).rejects.toThrow('Unknown tool');
      const secondNotification = client.notifications.next(isToolListChange, within);
      line.write({ mcpServers: { a } });
      await secondNotification;
      await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
        what: 'The end of the rule',
        withinMs: 15_000,
      });
    },
  );

  test.each(['legacy', 'modern'] as const)(
    'changed description: notifies a %s client and replaces the text',
    async (era) => {
      const a = fixture('plain');
      const description = async (): Promise<unknown> =>
        (await client.listTools()).find(({ name }) => name === 'a__echo')?.['description'];
      await using line = await ReloadingGateway.start({ mcpServers: { a } });
      const client = await line.client({ era });
      await eventually(async () => (await description()) !== undefined, {
        what: 'The tools',
        withinMs: 15_000,
      });
      await client.listen();
      const notification = client.notifications.next(isToolListChange, within);
      line.write({ mcpServers: { a: { ...a, tools: { describe: { echo: { replace: 'Ours.' } } } } } });
      await notification;
      await eventually(async () => expect(await description()).toBe('Ours.'), {
        what: 'The new description',
        withinMs: 15_000,
      });
    },
  );

  test('changed rule: does not notify clients whose tools stay the same', async () => {
    const a = fixture('plain');
    await using line = await ReloadingGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await client.listen();
    await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
      what: 'The tools',
      withinMs: 15_000,
    });
    const before = client.notifications.all.filter(isToolListChange).length;
    line.write({
      mcpServers: { a },
      policy: { rules: [{ id: 'others', effect: 'deny', callers: ['somebody'], names: ['*'] }] },
      log: { level: 'debug' },
    });
    await waitUntilApplied(line);
    // Any notification of the first change arrives before that of the second.
    line.write({ mcpServers: { a: { ...a, tools: { deny: ['add'] } } } });
    await client.notifications.next(isToolListChange, within);
    expect(client.notifications.all.filter(isToolListChange)).toHaveLength(before + 1);
  });

  test('changed exposure: replaces the listed tools, while known names stay callable', async () => {
    const a = fixture('plain');
    await using line = await ReloadingGateway.start(
      { mcpServers: { a }, expose: { kind: 'direct' } },
      { args: [] },
    );
    const client = await line.client();
    await client.listen();
    await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
      what: 'The tools',
      withinMs: 15_000,
    });
    const notification = client.notifications.next(isToolListChange, within);
    line.write({ mcpServers: { a }, expose: { kind: 'search' } });
    await notification;
    await eventually(async () => (await listToolNames(client)).includes('search_tools'), {
      what: 'The search',
      withinMs: 15_000,
    });
    // A model may still call a tool that it already knows.
    expect(await client.callTool('a__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
  });
});

describe('custom guards', () => {
  test('custom guard: reloads when its file changes, and stays active if the new file is invalid', async () => {
    const a = fixture('plain');
    const guard = (word: string): string =>
      `export default async (call, next) => ({ ...(await next()), content: [{ type: 'text', text: '${word}' }] });`;
    await using line = await ReloadingGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await eventually(async () => (await listToolNames(client)).includes('a__echo'), {
      what: 'The tools',
      withinMs: 15_000,
    });
    const file = join(line.home.home, 'guard.mjs');
    const says = (word: string): Promise<unknown> =>
      eventually(async () => joinedTextOf(await client.callTool('a__echo', { text: 'plain' })) === word, {
        what: `The guard that says ${word}`,
        withinMs: 15_000,
      });
    writeFileSync(file, guard('one'));
    line.write({ mcpServers: { a }, guards: ['./guard.mjs'] });
    await says('one');
    writeFileSync(file, guard('two'));
    await says('two');
    // An invalid file does not remove the guard.
    writeFileSync(file, 'export default 1;');
    await eventually(async () => (await line.status()).configProblem !== undefined, {
      what: 'The problem',
      withinMs: 15_000,
    });
    await says('two');
    line.write({ mcpServers: { a } });
    await says('plain');
    expect((await line.status()).configProblem).toBeUndefined();
  });
});

describe('changed authentication', () => {
  test('changed authentication: applies at once, also to connected clients', async () => {
    const a = fixture('plain');
    await using line = await ReloadingGateway.start({ mcpServers: { a } });
    const client = await line.client();
    await listToolNames(client);
    line.write({ mcpServers: { a }, auth: { keys: true } });
    await eventually(
      async () => {
        const { status } = await fetch(line.gateway.url, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        });
        return status === 401;
      },
      { what: 'The authentication error', withinMs: 15_000 },
    );
    await expect(client.listTools()).rejects.toThrow();
    await expect(line.client()).rejects.toThrow('A key or token is required');
    const { stdout } = await line.command('keys', 'add', 'me', '--json');
    const { key } = JSON.parse(stdout) as { key: string };
    const answer = await fetch(line.gateway.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  });
});

describe('changed address', () => {
  test('changed address: is reported as needing a restart until it is reverted', async () => {
    const a = fixture('plain');
    const http = { address: '127.0.0.1:0' };
    await using line = await ReloadingGateway.start({ mcpServers: { a }, http }, { listen: 'configured' });
    line.write({ mcpServers: { a }, http: { address: '127.0.0.1:1', maxSessions: 3 } });
    await eventually(async () => JSON.stringify((await line.status()).needsRestart) === '["http.address"]', {
      what: 'The restart notice',
      withinMs: 15_000,
    });
    expect((await line.command('status', '--text')).stdout).toContain(
      'http.address takes effect only when the gateway restarts',
    );
    line.write({ mcpServers: { a }, http });
    await eventually(async () => (await line.status()).needsRestart === undefined, {
      what: 'The end of the restart notice',
      withinMs: 15_000,
    });
  });
});
