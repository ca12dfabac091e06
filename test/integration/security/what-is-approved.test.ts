import { join } from 'node:path';

import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const config = { management: true, startup: { listWait: '60s' } };

test('approvals: show the variables a server would run with and mask secrets', async () => {
  await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config });
  const client = await (await home.pipe()).client();
  const env = { npm_config_registry: 'https://evil.example/', API_KEY: 'hush-hush' };
  const server = { command: 'npx', args: ['-y', 'thing'], env, envFile: '/somewhere/evil.env' };
  await client.callTool('manage_servers', { operation: 'add', name: 'two', server });
  const { stdout } = await home.command('approvals', '--config', join(home.home, 'config.jsonc'), '--text');
  expect(stdout).toContain('https://evil.example/');
  expect(stdout).toContain('/somewhere/evil.env');
  expect(stdout).toMatch(/looks like a secret, but the server still receives it: env\.API_KEY\./);
  expect(stdout).not.toContain('hush-hush');
});

const manyVariables = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`V${n}`, `hidden-${n}`]));
test.each([
  { what: 'a long value', part: { args: ['-c', `${'# harmless\n'.repeat(500)}touch it`] }, end: 'touch it' },
  { what: 'many places', part: { env: manyVariables }, end: 'hidden-59' },
])('approvals: what the list cuts ($what) cannot be accepted until it was shown whole', async (sample) => {
  await using home = new SharedHome({ mcpServers: { one: fixture('plain') }, config });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe()).client();
  const server = { command: 'no-such-program', ...sample.part };
  await client.callTool('manage_servers', { operation: 'add', name: 'two', server });
  const listed = await home.command('approvals', ...where, '--text');
  expect(listed.stdout).toMatch(/not shown.*trunkline approvals --full/is);
  expect(listed.stdout).not.toContain(sample.end);
  const [, fingerprint = ''] = /server two {2}\S+ {2}(\S+)/.exec(listed.stdout) ?? [];
  for (const more of [[], ['--all'], ['--fingerprint', fingerprint]]) {
    const refused = await home.command('approvals', 'accept', 'two', ...more, ...where);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('trunkline approvals --full');
  }
  const whole = await home.command('approvals', '--full', ...where, '--text');
  expect(whole.stdout).toContain(sample.end);
  expect(whole.stdout).not.toContain('not shown');
  // The shorter list afterwards does not take back that it was shown whole.
  await home.command('approvals', ...where, '--text');
  const { stderr } = await home.command('approvals', 'accept', 'two', ...where);
  expect(stderr).toContain('no-such-program');
});

test('call approval: applies only to the exact arguments, even where they are masked', async () => {
  const rule = { id: 'ask-me', effect: 'ask', names: ['manage_servers'] };
  await using home = new SharedHome({
    mcpServers: { one: fixture('plain') },
    config: { ...config, policy: { rules: [rule], askWait: '60s' } },
  });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe()).client();
  await waitForTool(client, 'one__echo');
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
});
