import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { login, openSignedInGateway, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

test('sign-in required: fails calls with the login command and without retries', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client();
  for (let call = 0; call < 5; call += 1) {
    const answer = await client.callTool('it__whoami');
    expect(gatewayErrorCode(answer)).toBe('UPSTREAM_NEEDS_AUTH');
    expect(textOfResult(answer)).toContain('trunkline login it');
  }
  expect(gateway.stderr()).toContain('trunkline login it');
  // The gateway neither retried nor contacted the authorization server, and opened no browser.
  expect(requests(server.log)).toHaveLength(1);
  expect(server.log.of('as')).toEqual([]);
  await client.close();
});

test('login: is noticed by a running gateway and survives a restart', async () => {
  await using server = await startProtectedServer();
  const home = temporaryFolder('home');
  const options = { mcpServers: { it: { url: server.url } }, home, listen: 'http' } as const;
  {
    await using gateway = await startGateway(options);
    const client = await gateway.client();
    await eventually(() => expect(gateway.stderr()).toContain('trunkline login it'));
    expect(await client.listTools()).toEqual([]);
    const { code, stdout } = await login(home, 'it');
    expect(code).toBe(0);
    expect(stdout).toContain('Signed in to it');
    await waitForTool(client, 'it__whoami', { withinMs: 5000 });
    expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
    await client.close();
  }
  await using gateway = await startGateway(options);
  const client = await gateway.client();
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  expect(server.log.of('authorize')).toHaveLength(1);
  await client.close();
});

test('stored tokens: are encrypted and readable by their owner only', async () => {
  await using line = await openSignedInGateway();
  const { server, client, gateway, home } = line;
  await client.close();
  await gateway.stop();
  const token =
    requests(server.log)
      .map(bearerOf)
      .find((one) => one !== '') ?? 'none';
  expect(token.length).toBeGreaterThan(100);
  const files = everything(join(home, 'state'));
  expect(files.map(({ path }) => path)).toContain(join(home, 'state', 'secret.key'));
  for (const { path, mode, isFolder } of files) {
    expect([path, (mode & 0o777).toString(8)]).toEqual([path, isFolder ? '700' : '600']);
    if (!isFolder) expect([path, readFileSync(path).includes(token)]).toEqual([path, false]);
  }
  expect(gateway.stderr()).not.toContain(token);
});

test(
  'Authorization header: overrides a saved token and is omitted when empty',
  { tags: ['slow'] },
  async () => {
    await using server = await startProtectedServer();
    const home = temporaryFolder('home');
    const entry = { url: server.url, headers: { Authorization: 'Bearer ${IT_TOKEN:-}' } };
    const options = { mcpServers: { it: entry }, home, listen: 'http' } as const;
    {
      await using gateway = await startGateway(options);
      await eventually(() => expect(gateway.stderr()).toContain('trunkline login it'));
      expect(requests(server.log).map(({ headers }) => headers['authorization'])).toEqual([undefined]);
      expect((await login(home, 'it')).code).toBe(0);
      const client = await gateway.client();
      await waitForTool(client, 'it__whoami');
      await client.close();
    }
    const before = requests(server.log).length;
    await using gateway = await startGateway({ ...options, env: { IT_TOKEN: 'of-the-configuration' } });
    await eventually(() => expect(gateway.stderr()).toContain('HTTP 401'));
    expect(bearerOf(requests(server.log)[before]!)).toBe('of-the-configuration');
  },
);

test('token refresh: renews short-lived tokens without failing a call', { tags: ['slow'] }, async () => {
  await using line = await openSignedInGateway({ tokenTtl: 2 });
  const { server, client } = line;
  await eventually(
    async () => {
      expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
      return server.log.of('refresh').length >= 3;
    },
    { withinMs: 15_000, what: 'Three renewals' },
  );
  expect(server.log.of('refresh-reused')).toEqual([]);
});

test('sign-in required: is detected on a server that opens without a token and rejects lists', async () => {
  const openMethods = ['initialize', 'notifications/initialized', 'server/discover'];
  await using server = await startProtectedServer({ openMethods });
  const home = temporaryFolder('home');
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, home, listen: 'http' });
  const client = await gateway.client();
  await eventually(() => expect(gateway.stderr()).toContain('trunkline login it'));
  expect(gatewayErrorCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH');
  await login(home, 'it');
  await waitForTool(client, 'it__whoami');
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  await client.close();
});

test('insufficient scope: fails only the call, and the next sign-in requests the missing scope', async () => {
  const scopes = { 'tools/call': ['write'] };
  await using line = await openSignedInGateway({ challengeScope: 'read', scopes });
  const { server, client, home } = line;
  const refused = await client.callTool('it__whoami');
  expect(gatewayErrorCode(refused)).toBe('UPSTREAM_NEEDS_AUTH');
  expect(textOfResult(refused)).toMatch(/trunkline login it.*"write"/s);
  expect((await client.listTools()).length).toBeGreaterThan(5);
  expect((await login(home, 'it')).code).toBe(0);
  expect(server.log.of('authorize')[1]?.['asked']).toMatchObject({ scope: 'read write' });
  await eventually(async () =>
    expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com'),
  );
});

test('revoked grant: fails calls with the error of the authorization server and stops refreshing', async () => {
  await using line = await openSignedInGateway();
  const { server, client } = line;
  await server.control({ act: 'revoke-all' });
  const answer = await client.callTool('it__whoami');
  expect(gatewayErrorCode(answer)).toBe('UPSTREAM_NEEDS_AUTH');
  expect(textOfResult(answer)).toContain('The refresh token is not valid any more. (invalid_grant)');
  const before = requests(server.log).length;
  for (let call = 0; call < 3; call += 1)
    expect(textOfResult(await client.callTool('it__whoami'))).toContain('login it');
  expect(requests(server.log).length).toBe(before);
  expect(server.log.of('refresh')).toHaveLength(1);
});

test('token import: reads a token from a TRUNKLINE_TOKENS_* variable', async () => {
  await using server = await startProtectedServer();
  const home = temporaryFolder('home');
  const mcpServers = { 'my-server': { url: server.url } };
  {
    await using gateway = await startGateway({ mcpServers, home, listen: 'http' });
    await login(home, 'my-server');
    const client = await gateway.client();
    await waitForTool(client, 'my-server__whoami');
    await client.close();
  }
  const token =
    requests(server.log)
      .map(bearerOf)
      .find((one) => one !== '') ?? '';
  const env = { TRUNKLINE_TOKENS_MY_SERVER: token };
  await using gateway = await startGateway({ mcpServers, env, listen: 'http' });
  const client = await gateway.client();
  await waitForTool(client, 'my-server__whoami');
  expect(textOfResult(await client.callTool('my-server__whoami'))).toContain('ada@example.com');
  await client.close();
});

interface Post {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

function requests(log: FixtureLog): readonly Post[] {
  return log.of('http').filter(({ url }) => url === '/mcp') as unknown as Post[];
}

function bearerOf({ headers }: Post): string {
  return (headers['authorization'] ?? '').replace(/^Bearer /, '');
}

function everything(folder: string): { path: string; mode: number; isFolder: boolean }[] {
  return [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ].map((path) => ({ path, mode: statSync(path).mode, isFolder: statSync(path).isDirectory() }));
}
