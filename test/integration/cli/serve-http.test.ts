import { expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal } from '../../support/terminal.ts';

checkLeaks();

test.each([80, 60])(
  'serve --http: prints a command to copy in one piece on a terminal of %d columns',
  { tags: ['expect'] },
  async (columns) => {
    const home = commandHome({ plain: fixture('plain') });
    const { code, screen } = await runInTerminal(
      home,
      ['serve', '--http', '127.0.0.1:0', '--config', home.configFile],
      { columns, script: ['expect "dashboard --config"', 'expect "config.jsonc"', 'send "\\003"'] },
    );
    expect(code).toBe(0);
    expect(screen).toMatch(
      new RegExp(`^  TRUNKLINE_HOME=${home.home} \\S.* dashboard --config config\\.jsonc$`, 'm'),
    );
  },
);

/** The startup output, up to the list of servers. */
async function told(config: Readonly<Record<string, unknown>>): Promise<string> {
  await using gateway = await startGateway({
    mcpServers: { plain: fixture('plain') },
    listen: 'http',
    config,
  });
  await eventually(() => gateway.stderr().includes('from 1 server:'), { what: 'The list of servers' });
  return gateway.stderr();
}

test('serve --http: prints a client entry without a key when authentication is off', async () => {
  const text = await told({});
  expect(text).toMatch(/"trunkline": \{ "type": "http", "url": "http:\/\/127\.0\.0\.1:\d+\/mcp" \}/);
  expect(text).not.toMatch(/\bkey\b|Authorization/i);
});

test('serve --http: says how to create a key and where to put it when keys are required', async () => {
  const text = await told({ auth: { keys: true } });
  expect(text).toContain('"headers": { "Authorization": "Bearer KEY" }');
  expect(text).toContain('Clients need a key. Create one per client with: trunkline keys add NAME');
});

test('serve --http: names the proxy address and the user header that it trusts', async () => {
  const text = await told({
    auth: { forwarded: { from: ['127.0.0.1'], user: 'X-User' } },
  });
  expect(text).toContain('The header x-user is trusted from 127.0.0.1.');
  expect(text).not.toContain('Bearer KEY');
});
