import { join } from 'node:path';

import { expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const config = {
  startup: { listWait: '60s' },
  profiles: {
    small: { servers: ['one'], names: ['echo', 'add'], expose: 'direct' },
    finding: { servers: ['one'], expose: 'search' },
    coding: { servers: ['one'], expose: 'code' },
  },
  policy: { rules: [{ id: 'no-adding', effect: 'deny', names: ['add'], profiles: ['small'] }] },
};
const mcpServers = { one: fixture('plain'), two: fixture('structured') };

test.each(['legacy', 'modern'] as const)('profile: has its own path and exposure (%s)', async (era) => {
  await using gateway = await startGateway({ mcpServers, config, listen: 'http', args: [] });
  const at = async (path: string): Promise<RawClient> => {
    const client = await RawClient.over(httpTransport(new URL(path, gateway.url).href), { era });
    await client.open();
    return client;
  };
  const names = async (client: RawClient) => (await client.listTools()).map(({ name }) => name);
  const [small, finding, coding] = await Promise.all(
    ['small', 'finding', 'coding'].map((name) => at(`/mcp/p/${name}`)),
  );
  expect(await names(small!)).toEqual(['one__echo']);
  expect(textOfResult(await small!.callTool('one__echo', { text: 'a' }))).toBe('a');
  for (const hidden of ['one__add', 'two__fits'])
    await expect(small!.callTool(hidden, { a: 1, b: 2 })).rejects.toThrow('Unknown tool');
  expect(await names(finding!)).toContain('call_read_tool');
  expect(await names(coding!)).toContain('run_code');
  for (const path of ['/mcp/p/none', '/mcp/p/', '/mcp/p/toString'])
    expect((await fetch(new URL(path, gateway.url), { method: 'POST', body: '{}' })).status).toBe(404);
  for (const client of [small, finding, coding]) await client?.close();
});

test('profile: applies to a stdio client through --profile, and an unknown name is rejected', async () => {
  await using home = new SharedHome({ mcpServers, config });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe({ args: ['--profile', 'small'] })).client();
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['one__echo']);
  const wrong = await home.command('serve', '--profile', 'smal', ...where);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('Did you mean "small"');
  const check = (profile: string, name: string) =>
    home.command('policy', 'check', '--as', 'local', '--profile', profile, name, '--json', ...where);
  expect(JSON.parse((await check('small', 'one__add')).stdout)).toMatchObject({
    verdict: 'hide',
    rule: 'no-adding',
  });
  expect(await check('small', 'two__fits')).toMatchObject({ code: 6 });
  expect(await check('small', 'one__echo')).toMatchObject({ code: 0 });
});
