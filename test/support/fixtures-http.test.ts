import { Agent } from 'node:http';

import { describe, expect, test } from 'vitest';

import { connectDirectly } from './direct-connection.ts';
import { startHttpFixture } from './fixture.ts';
import { checkLeaks } from './leak-check.ts';
import { withEnvelope, modernHeaders } from './modern-envelope.ts';
import { RawClient } from './raw-client.ts';
import { httpTransport, openHttp, readBody } from './raw-transports.ts';

checkLeaks();

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
};

describe('legacy HTTP fixture', () => {
  test('legacy HTTP fixture: requires a known session and closes it on DELETE', async () => {
    await using direct = await connectDirectly('plain', [], { over: 'http' });
    const url = await addressOf(direct.log);
    const listTools = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect((await post(url, listTools)).status).toBe(400);
    expect((await post(url, listTools, { 'mcp-session-id': 'nobody' })).status).toBe(404);
    await direct.client.close();
    await direct.log.waitFor(({ event, how }) => event === 'session-closed' && how === 'deleted');
  });

  test('legacy HTTP fixture: answers a modern probe with a legacy 400 error', async () => {
    await using direct = await connectDirectly('plain', [], { over: 'http' });
    const body = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: withEnvelope({}, {}) };
    const answer = await post(
      await addressOf(direct.log),
      JSON.stringify(body),
      modernHeaders('server/discover', {}),
    );
    expect(answer).toMatchObject({ status: 400, body: { error: { code: -32000 } } });
  });

  test.each([
    ['in JSON', []],
    ['as a stream', ['--answer', 'sse']],
    ['compressed', ['--gzip']],
    ['as a compressed stream', ['--gzip', '--answer', 'sse']],
    ['without sessions', ['--sessionless']],
  ])('legacy HTTP fixture: answers %s', async (_how, args) => {
    await using server = await startHttpFixture('plain', args);
    const response = await fetch(server.url, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(initialize),
    });
    expect(response.headers.get('content-encoding')).toBe(args.includes('--gzip') ? 'gzip' : null);
    expect(response.headers.get('content-type')).toBe(
      args.includes('sse') ? 'text/event-stream' : 'application/json',
    );
    expect(response.headers.has('mcp-session-id')).toBe(!args.includes('--sessionless'));
    expect(await response.text()).toContain('"serverInfo"');
  });

  test('legacy HTTP fixture: serves clients when it has no sessions', async () => {
    await using direct = await connectDirectly('plain', ['--sessionless'], { over: 'http' });
    expect(await direct.client.callTool('echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
    expect(direct.log.violations()).toEqual([]);
  });

  test('legacy HTTP fixture: forgets a session after a number of requests', async () => {
    await using direct = await connectDirectly('forgets-sessions', ['--after', '2'], { over: 'http' });
    await direct.client.callTool('echo', { text: 'a' });
    await expect(direct.client.callTool('echo', { text: 'b' })).rejects.toMatchObject({ status: 404 });
    await direct.log.waitFor(({ event, how }) => event === 'session-closed' && how === 'forgotten');
    expect(await direct.client.initialize()).toHaveProperty('serverInfo');
  });

  test('legacy HTTP fixture: requires its bearer token', async () => {
    await using server = await startHttpFixture('plain', ['--bearer', 'secret']);
    expect((await post(server.url, JSON.stringify(initialize))).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    expect((await post(server.url, JSON.stringify(initialize), headers)).status).toBe(200);
  });
});

describe('modern HTTP fixture', () => {
  test('modern HTTP fixture: checks envelope, version, headers and method', async () => {
    await using server = await startHttpFixture('plain', ['--era', 'modern']);
    const ask = (method: string, params: Record<string, unknown>, headers: Record<string, string>) =>
      post(server.url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers);
    const good = withEnvelope({}, {});
    const list = modernHeaders('tools/list', {});
    expect(await ask('tools/list', good, list)).toMatchObject({
      status: 200,
      body: { result: { resultType: 'complete' } },
    });
    expect(await ask('tools/list', {}, list)).toMatchObject({
      status: 400,
      body: { error: { code: -32602 } },
    });
    expect(await ask('tools/list', good, {})).toMatchObject({
      status: 400,
      body: { error: { code: -32020 } },
    });
    const old = { version: '2099-01-01' };
    expect(
      await ask('tools/list', withEnvelope({}, old), modernHeaders('tools/list', {}, '2099-01-01')),
    ).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } } },
    });
    expect(await ask('no/such', good, modernHeaders('no/such', {}))).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    });
    const agent = new Agent();
    const response = await openHttp({
      url: server.url,
      method: 'GET',
      headers: { accept: 'text/event-stream' },
      agent,
    });
    await readBody(response);
    expect(response.statusCode).toBe(405);
  });

  test('modern HTTP fixture: requires annotated parameters in headers', async () => {
    await using direct = await connectDirectly('plain', [], { over: 'http', era: 'modern' });
    await expect(direct.client.callTool('regional', { region: 'eu' })).rejects.toMatchObject({
      code: -32020,
    });
    const headers = { 'mcp-param-region': 'eu' };
    expect(await direct.client.callTool('regional', { region: 'eu' }, { headers })).toMatchObject({
      content: [{ text: 'eu' }],
    });
  });
});

test('HTTP fixture: serves both eras at one URL', async () => {
  await using server = await startHttpFixture('plain', ['--era', 'both']);
  await using legacy = await RawClient.over(httpTransport(server.url), { era: 'legacy' });
  await using modern = await RawClient.over(httpTransport(server.url), { era: 'modern' });
  expect(await legacy.open()).toMatchObject({ protocolVersion: '2025-11-25' });
  expect(await modern.open()).toMatchObject({
    supportedVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
  });
  await Promise.all([legacy.listen(), modern.listen()]);
  await legacy.callTool('change-list');
  const changed = 'notifications/tools/list_changed';
  expect(await legacy.notifications.waitFor(({ method }) => method === changed)).toBeDefined();
  expect(await modern.notifications.waitFor(({ method }) => method === changed)).toMatchObject({
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': expect.any(Number) } },
  });
  expect(server.log.violations()).toEqual([]);
});

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const agent = new Agent();
  const response = await openHttp({ url, method: 'POST', headers: { ...json, ...headers }, body, agent });
  const text = await readBody(response);
  return { status: response.statusCode, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
}

async function addressOf(log: { of(event: string): readonly Record<string, unknown>[] }): Promise<string> {
  const headers = log.of('http')[0]?.['headers'] as { host: string };
  return `http://${headers.host}/mcp`;
}
