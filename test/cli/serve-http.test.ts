import { expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { inTerminal } from '../support/terminal.ts';

checkLeaks();

test.each([80, 60])('a command to copy is in one piece on a terminal of %d columns', async (columns) => {
  const home = commandHome({ plain: fixture('plain') });
  const { code, screen } = await inTerminal(
    home,
    ['serve', '--http', '127.0.0.1:0', '--config', home.configFile],
    { columns, script: ['expect "dashboard --config"', 'expect "config.jsonc"', 'send "\\003"'] },
  );
  expect(code).toBe(0);
  expect(screen).toMatch(
    new RegExp(`^  TRUNKLINE_HOME=${home.home} \\S.* dashboard --config config\\.jsonc$`, 'm'),
  );
});

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
