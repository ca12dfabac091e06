import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  approveSignIn,
  login,
  openSignInHarness,
  openSignedInGateway,
  startProtectedServer,
  followRedirects,
} from '../../support/sign-in.ts';
import type { ProtectedServer } from '../../support/protected-server.ts';
import { runInTerminal } from '../../support/terminal.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

test(
  'token refresh: reports an authorization server outage as temporary and recovers',
  { tags: ['slow'] },
  async () => {
    await using line = await openSignedInGateway({ tokenTtl: 2 });
    const { server, client } = line;
    await server.control({ tokenStatus: 503 });
    const down = await eventually(async () => {
      const answer = await client.callTool('it__whoami');
      return answer.isError === true && answer;
    });
    expect(gatewayErrorCode(down)).toBe('UPSTREAM_UNAVAILABLE');
    expect(textOfResult(down)).toMatch(/cannot be refreshed now and is kept.*503/s);
    expect(textOfResult(down)).not.toContain('trunkline login');
    await server.control({ tokenStatus: 200 });
    await eventually(
      async () => expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com'),
      { withinMs: 15_000 },
    );
    expect(server.log.of('authorize')).toHaveLength(1);
  },
);

test(
  'token refresh: saves the new token when the gateway stops during a refresh',
  { tags: ['slow'] },
  async () => {
    await using line = await openSignedInGateway({ tokenTtl: 2 });
    const { server, client, gateway, home } = line;
    await server.control({ slowTokenMs: 800 });
    await untilRenewing(server);
    await client.close();
    await gateway.stop();
    expect(server.log.of('refresh').length).toBe(server.log.of('token').length - 1);
    await using next = await startGateway({ mcpServers: { it: { url: server.url } }, home, listen: 'http' });
    const again = await next.client();
    expect(textOfResult(await again.callTool('it__whoami'))).toContain('ada@example.com');
    await again.close();
    expect(server.log.of('refresh-reused')).toEqual([]);
    expect(server.log.of('authorize')).toHaveLength(1);
  },
);

test(
  'token refresh: continues when the server entry changes during a refresh',
  { tags: ['slow'] },
  async () => {
    await using line = await openSignedInGateway({ tokenTtl: 2 });
    const { server, client, gateway } = line;
    await server.control({ slowTokenMs: 800 });
    await untilRenewing(server);
    const it = { url: server.url, headers: { 'X-Team': 'night' } };
    writeFileSync(gateway.configFile, JSON.stringify({ mcpServers: { it } }));
    await eventually(async () => {
      expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
      expect(server.log.all().some(({ headers }) => JSON.stringify(headers ?? '').includes('night'))).toBe(
        true,
      );
    });
    expect(server.log.of('refresh-reused')).toEqual([]);
    expect(server.log.of('authorize')).toHaveLength(1);
  },
);

test('running call: survives token expiry and sign-out', { tags: ['slow'] }, async () => {
  await using server = await startProtectedServer({ tokenTtl: 2 });
  const home = commandHome({ it: { url: server.url } });
  await using gateway = await startGateway({
    mcpServers: { it: { url: server.url } },
    home: home.home,
    listen: 'http',
  });
  await login(home.home, 'it');
  const client = await gateway.client();
  await waitForTool(client, 'it__slow');
  const slow = client.callTool('it__slow', { ms: 3500 });
  await home.run(['logout', 'it']);
  expect((await slow).isError).not.toBe(true);
  await eventually(async () =>
    expect(gatewayErrorCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH'),
  );
  await client.close();
});

test.each([
  ['forward', 48],
  ['back', -48],
])('token refresh: needs no sign-in after the clock jumps %s', async (_way, hours) => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
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

test('callback port: is skipped when busy, with an error when all are busy', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
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

test('callback: rejects other requests and still completes the sign-in', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const seen: number[] = [];
  const tokens = await desk.signIn({
    open: async (url) => {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      for (const path of ['//', '/%', '/callback', '/callback?code=x&state=y', '/callback/'])
        seen.push((await fetch(`${back.origin}${path}`)).status);
      await approveSignIn(url);
    },
  });
  expect(seen).toEqual([404, 404, 400, 400, 404]);
  expect(tokens.account).toBe('ada@example.com');
});

test('login: succeeds for two concurrent sign-ins', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ it: { url: server.url } });
  const both = await Promise.all([login(home.home, 'it'), login(home.home, 'it')]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await home.json(['auth', '--json'])).toMatchObject([{ state: 'signed-in' }]);
});

test('login: times out when the browser never returns, and the next sign-in works', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ it: { url: server.url } });
  const { code, stderr } = await home.run(['login', 'it', '--no-browser', '--timeout', '1', '--text']);
  expect(code).toBe(5);
  expect(stderr).toContain('The browser did not return within 1 s. Nothing was saved; try again.');
  expect((await login(home.home, 'it')).code).toBe(0);
});

test('sign-in: is separate for two servers of one issuer', async () => {
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

test('encryption key: reports when it is damaged or missing and keeps the tokens', async () => {
  await using server = await startProtectedServer();
  const home = commandHome({ it: { url: server.url } });
  await login(home.home, 'it');
  const file = join(home.home, 'state', 'secret.key');
  const key = readFileSync(file, 'utf8');
  writeFileSync(file, 'not a key\n');
  const damaged = await home.run(['auth', '--text']);
  expect(damaged.code).not.toBe(0);
  expect(damaged.stderr).toMatch(
    /secret\.key does not contain a key of Trunkline\. Restore the file, or delete it/,
  );
  rmSync(file);
  expect(await home.json(['auth', '--json'])).toMatchObject([
    { state: 'needs-sign-in', problem: expect.stringMatching(/cannot be decrypted.*secret\.key/) },
  ]);
  writeFileSync(file, key);
  chmodSync(file, 0o644);
  expect(await home.json(['auth', '--json'])).toMatchObject([{ state: 'signed-in' }]);
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

test(
  'login --token: hides a token typed at a terminal, and auth prints a table there',
  { tags: ['expect'] },
  async () => {
    const home = commandHome({ github: { url: 'https://api.githubcopilot.com/mcp/' } });
    const { code, screen } = await runInTerminal(home, ['login', 'github', '--token'], {
      script: ['expect "not shown"', String.raw`send "planted-tokenX\177-7\r"`],
    });
    expect(code).toBe(0);
    expect(screen).toContain('Signed in to github');
    expect(screen).not.toContain('planted');
    const inbox = await runInTerminal(home, ['auth'], { env: { NO_COLOR: '1' } });
    expect(inbox.screen).toMatch(/server +state[^]*github +signed in/);
    expect(inbox.screen).not.toContain('planted');
    // The stored token is the typed text without the erased characters; reading it requires the key.
    await using desk = openSignInHarness('https://api.githubcopilot.com/mcp/', join(home.home, 'state'));
    const place = { ...desk.signInId, upstream: 'github' as typeof desk.signInId.upstream };
    expect((await desk.vault.load(place))?.accessToken).toBe('planted-token-7');
  },
);

test('login --token: saves nothing on Ctrl-C', { tags: ['expect'] }, async () => {
  const home = commandHome({ github: { url: 'https://api.githubcopilot.com/mcp/' } });
  const { code } = await runInTerminal(home, ['login', 'github', '--token'], {
    script: ['expect "not shown"', String.raw`send "planted\003"`],
  });
  expect(code).toBe(130);
  expect(await home.json(['auth', '--json'])).toMatchObject([{ state: 'not-signed-in' }]);
});

test('stored tokens: appear in no log or state file at debug level', async () => {
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
  await waitForTool(client, 'it__whoami');
  await server.log.waitFor('refresh');
  await server.control({ act: 'revoke-all' });
  await eventually(async () =>
    expect(gatewayErrorCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH'),
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

test('failed sign-in: shows its reason in the browser and stores it', async () => {
  await using server = await startProtectedServer({ tokenStatus: 503 });
  await using desk = openSignInHarness(server.url);
  const pages: string[] = [];
  await expect(
    desk.signIn({
      open: async (url) => {
        pages.push((await followRedirects(url)).text);
      },
    }),
  ).rejects.toThrow(/503/);
  await eventually(() => expect(pages).toEqual([expect.stringContaining('Not signed in to it')]));
  expect((await desk.vault.loadNote(desk.signInId))?.problem).toMatch(/503/);
});

/** Waits until the token endpoint has received a refresh and is delaying its answer. */
async function untilRenewing({ log }: ProtectedServer): Promise<void> {
  const before = log.of('token').length;
  await eventually(() => log.of('token').length > before, { withinMs: 10_000 });
}
