import { expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

/** Everything that is told at the start, up to the list of servers. */
async function told(config: Readonly<Record<string, unknown>>): Promise<string> {
  await using gateway = await startGateway({
    mcpServers: { plain: fixture('plain') },
    listen: 'http',
    config,
  });
  await eventually(() => gateway.stderr().includes('from 1 server:'), { what: 'The list of servers' });
  return gateway.stderr();
}

test('a gateway that asks nobody who they are speaks of no key', async () => {
  const text = await told({});
  expect(text).toMatch(/"trunkline": \{ "type": "http", "url": "http:\/\/127\.0\.0\.1:\d+\/mcp" \}/);
  expect(text).not.toMatch(/\bkey\b|Authorization/i);
});

test('a gateway that wants keys says how to make one and where it goes', async () => {
  const text = await told({ auth: { keys: true } });
  expect(text).toContain('"headers": { "Authorization": "Bearer KEY" }');
  expect(text).toContain('Clients need a key. Make one for each with: trunkline keys add NAME');
});

test('a gateway that believes others says whom', async () => {
  const text = await told({
    auth: { forwarded: { from: ['127.0.0.1'], user: 'X-User' } },
  });
  expect(text).toContain('The header x-user is believed from 127.0.0.1.');
  expect(text).not.toContain('Bearer KEY');
});
