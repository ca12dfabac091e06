import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { ownCode, said, untilListed } from '../support/asking.ts';
import { commandHome } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { agree, login, openDesk, openSignedIn, startProtectedServer, walk } from '../support/sign-in.ts';
import type { ProtectedServer } from '../support/protected-server.ts';
import { inTerminal } from '../support/terminal.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

test('while the authorization server is down nobody has to sign in, and afterwards all is well', async () => {
  await using line = await openSignedIn({ tokenTtl: 2 });
  const { server, client } = line;
  await server.control({ tokenStatus: 503 });
  const down = await eventually(async () => {
    const answer = await client.callTool('it__whoami');
    return answer.isError === true && answer;
  });
  expect(ownCode(down)).toBe('UPSTREAM_UNAVAILABLE');
  expect(said(down)).toMatch(/cannot be renewed now and is kept.*503/s);
  expect(said(down)).not.toContain('trunkline login');
  await server.control({ tokenStatus: 200 });
  await eventually(
    async () => expect(said(await client.callTool('it__whoami'))).toContain('ada@example.com'),
    { withinMs: 15_000 },
  );
  expect(server.log.of('authorize')).toHaveLength(1);
});

test('a gateway that stops while a token is renewed keeps the new one, since the old one is spent', async () => {
  await using line = await openSignedIn({ tokenTtl: 2 });
  const { server, client, gateway, home } = line;
  await server.control({ slowTokenMs: 800 });
  await untilRenewing(server);
  await client.close();
  await gateway.stop();
  expect(server.log.of('refresh').length).toBe(server.log.of('token').length - 1);
  await using next = await startGateway({ mcpServers: { it: { url: server.url } }, home, listen: 'http' });
  const again = await next.client();
  expect(said(await again.callTool('it__whoami'))).toContain('ada@example.com');
  await again.close();
  expect(server.log.of('refresh-reused')).toEqual([]);
  expect(server.log.of('authorize')).toHaveLength(1);
});

test('an entry that is changed while its token is renewed goes on with the new one', async () => {
  await using line = await openSignedIn({ tokenTtl: 2 });
  const { server, client, gateway } = line;
  await server.control({ slowTokenMs: 800 });
  await untilRenewing(server);
  const it = { url: server.url, headers: { 'X-Team': 'night' } };
  writeFileSync(gateway.configFile, JSON.stringify({ mcpServers: { it } }));
  await eventually(async () => {
    expect(said(await client.callTool('it__whoami'))).toContain('ada@example.com');
    expect(server.log.all().some(({ headers }) => JSON.stringify(headers ?? '').includes('night'))).toBe(
      true,
    );
  });
  expect(server.log.of('refresh-reused')).toEqual([]);
  expect(server.log.of('authorize')).toHaveLength(1);
});

test('a token that ends during a call costs nothing, neither does a sign-out', async () => {
  await using server = await startProtectedServer({ tokenTtl: 2 });
  const home = commandHome({ it: { url: server.url } });
  await using gateway = await startGateway({
    mcpServers: { it: { url: server.url } },
    home: home.home,
    listen: 'http',
  });
  await login(home.home, 'it');
  const client = await gateway.client();
  await untilListed(client, 'it__slow');
  const slow = client.callTool('it__slow', { ms: 3500 });
  await home.run(['logout', 'it']);
  expect((await slow).isError).not.toBe(true);
  await eventually(async () =>
    expect(ownCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH'),
  );
  await client.close();
});

test.each([
  ['forward', 48],
  ['back', -48],
])('a clock that jumps %s costs no sign-in', async (_way, hours) => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  const before = await credentials.headers();
  expect(before).toHaveProperty('Authorization');
  desk.clock.offset = hours * 3_600_000;
  expect(await credentials.headers()).toHaveProperty('Authorization');
  desk.clock.offset = 0;
  expect(await credentials.headers()).toHaveProperty('Authorization');
  expect(server.log.of('refresh-reused')).toEqual([]);
  expect(server.log.of('refused')).toEqual([]);
});

test('a busy callback port is passed over, and where all are busy it says so', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const busy = createServer().listen(0, '127.0.0.1');
  await once(busy, 'listening');
  const { port } = busy.address() as { port: number };
  try {
    const auth = { callbackPort: { first: port, last: port } };
    await expect(desk.signIn({ auth })).rejects.toThrow(/Port \d+ is in use.*auth\.callbackPort/);
    await desk.signIn({ auth: { callbackPort: { first: port, last: port + 19 } } });
  } finally {
    busy.close();
  }
});

test('whatever else reaches the callback is neither believed nor in the way', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const seen: number[] = [];
  const tokens = await desk.signIn({
    open: async (url) => {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      for (const path of ['//', '/%', '/callback', '/callback?code=x&state=y', '/callback/'])
        seen.push((await fetch(`${back.origin}${path}`)).status);
      await agree(url);
    },
  });
  expect(seen).toEqual([404, 404, 400, 400, 404]);
  expect(tokens.account).toBe('ada@example.com');
});

test('two that sign in at once both succeed', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ it: { url: server.url } });
  const both = await Promise.all([login(home.home, 'it'), login(home.home, 'it')]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await home.json(['auth', '--json'])).toMatchObject([{ state: 'signed-in' }]);
});

test('a browser that was closed ends in a sentence, and the next sign-in works', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ it: { url: server.url } });
  const { code, stderr } = await home.run(['login', 'it', '--no-browser', '--timeout', '1', '--text']);
  expect(code).toBe(5);
  expect(stderr).toContain('Nobody came back from the browser within 1 s. Nothing was saved; try again.');
  expect((await login(home.home, 'it')).code).toBe(0);
});

test('two servers of one issuer have a sign-in each', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ one: { url: server.url }, two: { url: server.url } });
  expect((await login(home.home, 'one')).code).toBe(0);
  expect(await home.json(['auth', '--json'])).toMatchObject([
    { server: 'one', state: 'signed-in' },
    { server: 'two', state: 'not-signed-in' },
  ]);
  expect((await login(home.home, 'two')).code).toBe(0);
  await home.run(['logout', 'one']);
  expect(await home.json(['auth', '--json'])).toMatchObject([
    { server: 'one', state: 'not-signed-in' },
    { server: 'two', state: 'signed-in' },
  ]);
});

test('a lost or damaged key says so, and nothing is thrown away', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ it: { url: server.url } });
  await login(home.home, 'it');
  const file = join(home.home, 'state', 'secret.key');
  const key = readFileSync(file, 'utf8');
  writeFileSync(file, 'not a key\n');
  const damaged = await home.run(['auth', '--text']);
  expect(damaged.code).not.toBe(0);
  expect(damaged.stderr).toMatch(/secret\.key is not a key of Trunkline\. Restore it, or delete it/);
  rmSync(file);
  expect(await home.json(['auth', '--json'])).toMatchObject([
    { state: 'needs-sign-in', problem: expect.stringMatching(/cannot be decrypted.*secret\.key/) },
  ]);
  writeFileSync(file, key);
  chmodSync(file, 0o644);
  expect(await home.json(['auth', '--json'])).toMatchObject([{ state: 'signed-in' }]);
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

test('a token that is pasted at a terminal is not shown, and the inbox is a table there', async () => {
  const home = commandHome({ github: { url: 'https://api.githubcopilot.com/mcp/' } });
  const { code, screen } = await inTerminal(home, ['login', 'github', '--token'], {
    script: ['expect "not shown"', String.raw`send "planted-tokenX\177-7\r"`],
  });
  expect(code).toBe(0);
  expect(screen).toContain('Signed in to github');
  expect(screen).not.toContain('planted');
  const inbox = await inTerminal(home, ['auth'], { env: { NO_COLOR: '1' } });
  expect(inbox.screen).toMatch(/server +state[^]*github +signed in/);
  expect(inbox.screen).not.toContain('planted');
  // It is what was typed, less what was erased: only whoever has the key can tell.
  await using desk = openDesk('https://api.githubcopilot.com/mcp/', join(home.home, 'state'));
  const place = { ...desk.place, upstream: 'github' as typeof desk.place.upstream };
  expect((await desk.vault.load(place))?.accessToken).toBe('planted-token-7');
});

test('Ctrl-C while a token is asked for saves nothing', async () => {
  const home = commandHome({ github: { url: 'https://api.githubcopilot.com/mcp/' } });
  const { code } = await inTerminal(home, ['login', 'github', '--token'], {
    script: ['expect "not shown"', String.raw`send "planted\003"`],
  });
  expect(code).toBe(130);
  expect(await home.json(['auth', '--json'])).toMatchObject([{ state: 'not-signed-in' }]);
});

test('no token is in the log or in the state folder, however much is logged', async () => {
  await using server = await startProtectedServer({ tokenTtl: 2 });
  const home = temporaryFolder('home');
  const planted = 'planted-token-of-hand';
  await using gateway = await startGateway({
    mcpServers: { it: { url: server.url }, seeded: { url: server.url } },
    home,
    listen: 'http',
    env: { TRUNKLINE_TOKENS_SEEDED: planted },
    config: { log: { level: 'debug' } },
  });
  await login(home, 'it');
  const client = await gateway.client();
  await untilListed(client, 'it__whoami');
  await server.log.waitFor('refresh');
  await server.control({ act: 'revoke-all' });
  await eventually(async () =>
    expect(ownCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH'),
  );
  await client.close();
  await gateway.stop();
  const sent = server.log
    .of('http')
    .map(({ headers }) => (headers as Record<string, string | undefined>)['authorization'] ?? '')
    .filter((value) => value.startsWith('Bearer '))
    .map((value) => value.slice('Bearer '.length));
  const secrets = [...new Set([...sent, planted])];
  expect(secrets.length).toBeGreaterThan(2);
  const state = join(home, 'state');
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
    .map((name) => join(state, name))
    .filter((path) => statSync(path).isFile());
  for (const secret of secrets) {
    expect(gateway.stderr()).not.toContain(secret);
    for (const path of files) expect([path, readFileSync(path).includes(secret)]).toEqual([path, false]);
  }
});

test('a sign-in that fails shows its reason in the browser and in the inbox', async () => {
  await using server = await startProtectedServer({ tokenStatus: 503 });
  await using desk = openDesk(server.url);
  const pages: string[] = [];
  await expect(
    desk.signIn({
      open: async (url) => {
        pages.push((await walk(url)).text);
      },
    }),
  ).rejects.toThrow(/503/);
  await eventually(() => expect(pages).toEqual([expect.stringContaining('Not signed in to it')]));
  expect((await desk.vault.noted(desk.place))?.problem).toMatch(/503/);
});

/** The token endpoint has been asked, and thinks. */
async function untilRenewing({ log }: ProtectedServer): Promise<void> {
  const before = log.of('token').length;
  await eventually(() => log.of('token').length > before, { withinMs: 10_000 });
}
