import { join } from 'node:path';

import { expect, test } from 'vitest';

import { untilListed } from '../support/asking.ts';
import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { SharedHome } from '../support/shared-home.ts';

checkLeaks();

const config = { management: true, startup: { listWait: '10s' } };

test('whoever approves a server sees with which variables it would be run, and where something is hidden', async () => {
  await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config });
  const client = await (await home.pipe()).client();
  const env = { npm_config_registry: 'https://evil.example/', API_KEY: 'hush-hush' };
  const server = { command: 'npx', args: ['-y', 'thing'], env, envFile: '/somewhere/evil.env' };
  await client.callTool('manage_servers', { operation: 'add', name: 'two', server });
  const { stdout } = await home.command('approvals', '--config', join(home.home, 'config.jsonc'), '--text');
  expect(stdout).toContain('https://evil.example/');
  expect(stdout).toContain('/somewhere/evil.env');
  expect(stdout).toMatch(/looks like a secret and is set all the same: env\.API_KEY\./);
  expect(stdout).not.toContain('hush-hush');
});

test('a yes to a text that is not shown is good for no other text', async () => {
  const rule = { id: 'ask-me', effect: 'ask', names: ['manage_servers'] };
  await using home = new SharedHome({
    mcpServers: { one: fixture('plain') },
    config: { ...config, policy: { rules: [rule], askWait: '60s' } },
  });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe()).client();
  await untilListed(client, 'one__echo');
  type Waiting = readonly { readonly id: string; readonly arguments: unknown; readonly isOpen: boolean }[];
  const waiting = async (isOpen: boolean): Promise<string> =>
    eventually(
      async () => {
        const { stdout } = await home.command('approvals', '--json', ...where);
        const { calls } = JSON.parse(stdout) as { readonly calls: Waiting };
        expect(calls).toMatchObject([{ arguments: { operation: 'add', text: '•••' }, isOpen }]);
        return calls[0]!.id;
      },
      { withinMs: 20_000 },
    );
  const add = (command: string, signal?: AbortSignal) =>
    client.callTool(
      'manage_servers',
      { operation: 'add', name: 'two', text: JSON.stringify({ command }) },
      { withinMs: 30_000, ...(signal !== undefined && { signal }) },
    );
  const leaving = new AbortController();
  const first = add('harmless', leaving.signal).catch(() => undefined);
  await waiting(true);
  leaving.abort();
  await first;
  expect((await home.command('approve', await waiting(false), ...where)).code).toBe(0);
  const other = add('harmful');
  expect((await home.command('approve', '--refuse', await waiting(true), ...where)).code).toBe(0);
  expect(await other).toMatchObject({ isError: true });
  expect(await add('harmless')).toMatchObject({ structuredContent: { results: [{ result: 'added' }] } });
}, 90_000);
