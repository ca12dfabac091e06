import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { login, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const program = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function trunkline(home: string, args: readonly string[], stdin = ''): Promise<Ran> {
  const config = join(home, 'config.jsonc');
  const child = spawn(process.execPath, [program, ...args, '--config', config], {
    env: { ...process.env, TRUNKLINE_HOME: home },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(stdin);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

function homeWith(mcpServers: object): string {
  const home = temporaryFolder('home');
  writeFileSync(join(home, 'config.jsonc'), JSON.stringify({ mcpServers }));
  return home;
}

async function inbox(home: string): Promise<readonly Record<string, unknown>[]> {
  return JSON.parse((await trunkline(home, ['auth', '--json'])).stdout) as Record<string, unknown>[];
}

test('auth command: lists the state and the last problem of each server', async () => {
  await using server = await startProtectedServer();
  const home = homeWith({
    it: { url: server.url },
    other: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer x' } },
    local: { command: 'true' },
  });
  expect(await inbox(home)).toEqual([
    { server: 'it', caller: '', state: 'not-signed-in' },
    { server: 'other', caller: '', state: 'header' },
  ]);
  await server.control({ authorizeError: { error: 'access_denied', error_description: 'Not you.' } });
  const refused = await login(home, 'it');
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('Not you. (access_denied)') });
  expect((await inbox(home))[0]).toMatchObject({
    state: 'needs-sign-in',
    problem: expect.stringContaining('Not you.'),
  });
  const { stdout } = await trunkline(home, ['auth', '--text']);
  expect(stdout).toMatch(/sign-in needed.*run trunkline login it.*Not you/s);
});

test('auth command: shows account and expiry after sign-in and neither after sign-out', async () => {
  await using server = await startProtectedServer();
  const home = homeWith({ it: { url: server.url } });
  expect((await login(home, 'it')).stdout).toContain('Signed in to it as ada@example.com.');
  expect((await inbox(home))[0]).toMatchObject({
    state: 'signed-in',
    account: 'ada@example.com',
    renews: true,
    expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect((await trunkline(home, ['logout', 'it', '--text'])).stdout).toContain('revoked');
  expect(server.log.of('revoke')).toHaveLength(1);
  expect((await inbox(home))[0]).toMatchObject({ state: 'not-signed-in' });
  expect((await trunkline(home, ['logout', 'it', '--text'])).stdout).toContain('There was no sign-in');
});

test.each([true, false])(
  'logout: reaches a running gateway (revocation supported: %s)',
  async (revocation) => {
    await using server = await startProtectedServer({ revocation });
    const mcpServers = { it: { url: server.url } };
    const home = homeWith(mcpServers);
    await using gateway = await startGateway({ mcpServers, home, listen: 'http' });
    await login(home, 'it');
    const client = await gateway.client();
    await waitForTool(client, 'it__whoami');
    await trunkline(home, ['logout', 'it']);
    await eventually(async () =>
      expect(gatewayErrorCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH'),
    );
    expect(server.log.of('refresh')).toEqual([]);
    await client.close();
  },
);

test('login --token: reads a token from standard input and does not retry a rejected one', async () => {
  await using server = await startProtectedServer();
  const mcpServers = { it: { url: server.url } };
  const home = homeWith(mcpServers);
  await using gateway = await startGateway({ mcpServers, home, listen: 'http' });
  const client = await gateway.client();
  await eventually(() => expect(gateway.stderr()).toContain('trunkline login it'));
  expect(await trunkline(home, ['login', 'it', '--token'], 'wrong-token\n')).toMatchObject({ code: 0 });
  await eventually(async () =>
    expect(textOfResult(await client.callTool('it__whoami'))).toContain('no longer accepts the saved token'),
  );
  const wrong = server.log.of('unauthorized').filter(({ hasToken }) => hasToken === true);
  // At most twice, because the request is repeated once if there might be a newer token.
  expect(wrong.length).toBeLessThanOrEqual(2);
  expect(await trunkline(home, ['login', 'it', '--token'], 'two words\n')).toMatchObject({ code: 2 });
  await client.close();
});

test.each([
  // As with every other command, for an unknown server.
  ['nope', 6, /no server "nope"/],
  ['local', 2, /needs no sign-in/],
  ['header', 2, /has an Authorization header/],
])('login: explains why it cannot sign in to %s', async (name, exit, message) => {
  const header = { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer x' } };
  const home = homeWith({ header, local: { command: 'true' } });
  const { code, stderr } = await trunkline(home, ['login', name]);
  expect(code).toBe(exit);
  expect(stderr).toMatch(message);
});
