import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { login, startProtectedServer, followRedirects } from '../../support/sign-in.ts';

checkLeaks();

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Sends a request to the admin API over the socket of a running gateway, as commands do. */
function ask(
  gateway: RunningGateway,
  route: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const record = readFileSync(join(gateway.home, 'state', 'run', 'gateway.json'), 'utf8');
  const { socket: socketPath } = JSON.parse(record) as { socket: string };
  const [method = '', path = ''] = route.split(' ');
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const isJson = text.startsWith('{') || text.startsWith('[');
        resolve({ status: response.statusCode ?? 0, text, value: isJson ? JSON.parse(text) : {} });
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const SIGN_IN = '/api/servers/it/sign-in';

test('sign-in API: starts, streams and completes a sign-in', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client();
  expect((await ask(gateway, `GET ${SIGN_IN}`)).status).toBe(404);
  const { value: begun } = await ask(gateway, `POST ${SIGN_IN}`, {});
  expect(begun).toMatchObject({ server: 'it', caller: '', state: 'offered' });
  expect((await ask(gateway, `POST ${SIGN_IN}`, {})).value).toEqual(begun);
  const events = ask(gateway, `GET ${SIGN_IN}`, undefined, { accept: 'text/event-stream' });
  await followRedirects(new URL(String(begun['url'])));
  const states = [...(await events).text.matchAll(/"state":"([a-z]+)"/g)].map(([, state]) => state);
  expect(states).toEqual(['offered', 'open', 'done']);
  expect((await ask(gateway, `GET ${SIGN_IN}`)).value).toMatchObject({
    state: 'done',
    account: 'ada@example.com',
  });
  await waitForTool(client, 'it__whoami');
  expect((await ask(gateway, 'GET /api/sign-ins')).value).toMatchObject([
    { server: 'it', state: 'signed-in', account: 'ada@example.com', renews: true },
  ]);
  expect((await ask(gateway, 'POST /api/servers/it/sign-out', {})).value).toEqual({ result: 'revoked' });
  await eventually(async () =>
    expect(gatewayErrorCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH'),
  );
  await client.close();
});

test('sign-in API: completes a device flow', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const { value } = await ask(gateway, `POST ${SIGN_IN}`, { flow: 'device' });
  expect(value).toMatchObject({ state: 'open', code: expect.stringMatching(/./) });
  await fetch(String(value['url']), { redirect: 'manual' });
  await eventually(
    async () => expect((await ask(gateway, `GET ${SIGN_IN}`)).value).toMatchObject({ state: 'done' }),
    { withinMs: 15_000 },
  );
});

test('sign-in API: cancels a sign-in and closes its link', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const { value: begun } = await ask(gateway, `POST ${SIGN_IN}`, {});
  expect((await ask(gateway, `POST ${SIGN_IN}/cancel`, {})).value).toMatchObject({
    id: begun['id'],
    state: 'failed',
    problem: expect.stringContaining('cancelled'),
  });
  await expect(fetch(String(begun['url']))).rejects.toThrow();
  const { value: next } = await ask(gateway, `POST ${SIGN_IN}`, {});
  expect(next).toMatchObject({ state: 'offered' });
  expect(next['id']).not.toBe(begun['id']);
});

test('sign-in API: rejects servers that have no sign-in', async () => {
  const mcpServers = {
    header: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer x' } },
    machine: {
      url: 'http://127.0.0.1:9/mcp',
      auth: { flow: 'client-credentials', clientId: 'c', clientSecret: 's' },
    },
    local: { command: 'true' },
  };
  await using gateway = await startGateway({ mcpServers, listen: 'http' });
  for (const name of ['header', 'machine', 'local', 'nope']) {
    const { status, text } = await ask(gateway, `POST /api/servers/${name}/sign-in`, {});
    expect([name, status]).toEqual([name, name === 'nope' ? 404 : 400]);
    expect(text).toContain(name);
  }
  expect((await ask(gateway, 'POST /api/servers/local/sign-in', { flow: 'other' })).status).toBe(400);
});

test('sign-in API: tolerates a concurrent login command', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const { value } = await ask(gateway, `POST ${SIGN_IN}`, {});
  const [command] = await Promise.all([
    login(gateway.home, 'it'),
    followRedirects(new URL(String(value['url']))),
  ]);
  expect(command).toMatchObject({ code: 0, stdout: expect.stringContaining('Signed in to it') });
  expect((await ask(gateway, `GET ${SIGN_IN}`)).value).toMatchObject({ state: 'done' });
  const client = await gateway.client();
  await waitForTool(client, 'it__whoami');
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  await client.close();
});
