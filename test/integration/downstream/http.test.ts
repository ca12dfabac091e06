import type { IncomingMessage } from 'node:http';
import { setTimeout as pass } from 'node:timers/promises';

import { expect } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import {
  sendMcpRequest,
  openMcpResponse,
  firstMcpRequest,
  openLegacySession,
} from '../../support/mcp-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

// MCP 2025-11-25 basic/transports
scenario(
  'HTTP session: a missing id gets 400, an unknown id 404, and DELETE ends the session',
  { downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const { url } = line.gateway;
    const ping = (headers: Record<string, string>) => sendMcpRequest(url, { body: request('ping'), headers });
    const [first, second] = [await openLegacySession(url), await openLegacySession(url)];
    expect(first).not.toBe(second);
    expect(first).toMatch(/^[\x21-\x7e]{16,}$/);
    expect((await ping({})).status).toBe(400);
    expect((await ping({ 'mcp-session-id': 'made-up' })).status).toBe(404);
    expect((await ping({ 'mcp-session-id': first })).status).toBe(200);

    const missing = await sendMcpRequest(url, { method: 'DELETE' });
    const unknown = await sendMcpRequest(url, { method: 'DELETE', headers: { 'mcp-session-id': 'made-up' } });
    expect([missing.status, unknown.status]).toEqual([400, 404]);
    const ended = await sendMcpRequest(url, { method: 'DELETE', headers: { 'mcp-session-id': first } });
    expect([200, 204]).toContain(ended.status);
    expect((await ping({ 'mcp-session-id': first })).status).toBe(404);
    const stream = await sendMcpRequest(url, {
      headers: { 'mcp-session-id': first, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(404);
    expect((await ping({ 'mcp-session-id': second })).status).toBe(200);
  },
);

// MCP 2025-11-25 basic/transports
scenario(
  'HTTP request: is rejected with a foreign Host or Origin',
  { downstream: overHttp },
  async (cell) => {
    const http = { allowedHosts: ['gateway.test'], allowedOrigins: ['https://app.test'] };
    await using line = await cell.open({ one: ['plain'] }, { config: { http } });
    const { url } = line.gateway;
    const { headers, body } = firstMcpRequest(line.client.era);
    const status = async (more: Record<string, string>) =>
      (await sendMcpRequest(url, { body, headers: { ...headers, ...more } })).status;
    for (const host of ['evil.test', 'localhost.evil.test', '127.0.0.1.evil.test', 'evil.test:80'])
      expect(await status({ host }), host).toBe(403);
    for (const origin of [
      'https://evil.test',
      'http://localhost.evil.test',
      'null',
      'https://app.test.evil.test',
    ])
      expect(await status({ origin }), origin).toBe(403);
    const { port } = new URL(url);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, 'gateway.test'])
      expect(await status({ host }), host).toBe(200);
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1', 'https://app.test'])
      expect(await status({ origin }), origin).toBe(200);
    // Every endpoint applies the same check.
    const foreign = { headers: { host: 'evil.test' } };
    for (const path of ['/mcp', '/sse', '/messages?sessionId=x'])
      expect((await sendMcpRequest(new URL(path, url).href, foreign)).status, path).toBe(403);
    expect((await sendMcpRequest(url, { ...foreign, method: 'DELETE' })).status).toBe(403);
  },
);

scenario(
  'health endpoints: report liveness and readiness, also while the gateway drains',
  { downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['dies-at-start'] });
    const { gateway, client } = line;
    const statusOf = async (path: string) => (await sendMcpRequest(new URL(path, gateway.url).href)).status;
    expect([await statusOf('/healthz'), await statusOf('/readyz'), await statusOf('/else')]).toEqual([
      200, 200, 404,
    ]);
    const call = client.callTool('one__slow', { ms: 1500, text: 'done' });
    await line.logs['one']?.waitFor('call');
    gateway.signal('SIGTERM');
    // A draining gateway is alive but not ready.
    await eventually(async () => (await statusOf('/readyz')) === 503);
    expect(await statusOf('/healthz')).toBe(200);
    expect((await sendMcpRequest(gateway.url, firstMcpRequest('legacy'))).status).toBe(503);
    expect(textOfResult(await call)).toBe('done');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  },
);

scenario(
  'HTTP session: idle sessions are evicted by count and age, and resume when their client returns',
  { downstream: ['http/legacy'] },
  async (cell) => {
    {
      await using line = await cell.open({ one: ['plain'] }, { config: { http: { maxSessions: 3 } } });
      const { url } = line.gateway;
      const statusOf = async (session: string) =>
        (await sendMcpRequest(url, { body: request('ping'), headers: { 'mcp-session-id': session } })).status;
      // The client of the line holds one of the three sessions; its open stream keeps that session in use.
      await line.client.listen();
      const [old, newer] = [await openLegacySession(url), await openLegacySession(url)];
      const newest = await openLegacySession(url);
      // The session idle for the longest time is evicted, and resumed when its client returns.
      for (const session of [old, newer, newest]) expect(await statusOf(session)).toBe(200);
      const streams = await Promise.all([newer, newest].map((session) => streamOf(url, session)));
      const refused = await sendMcpRequest(url, firstMcpRequest('legacy'));
      expect(refused.status).toBe(503);
      expect(refused.headers['mcp-session-id']).toBeUndefined();
      expect(await Promise.all([newer, newest].map(statusOf))).toEqual([200, 200]);
      for (const stream of streams) stream.destroy();
      await eventually(async () => (await sendMcpRequest(url, firstMcpRequest('legacy'))).status === 200);
      expect(await line.client.request('ping')).toEqual({});
    }
    const http = { sessionIdle: '400ms' };
    await using line = await cell.open({ one: ['plain'] }, { config: { http } });
    const { url } = line.gateway;
    const [idle, listening] = [await openLegacySession(url), await openLegacySession(url)];
    const ping = async (session: string) =>
      (await sendMcpRequest(url, { body: request('ping'), headers: { 'mcp-session-id': session } })).status;
    const stream = await streamOf(url, listening);
    await pass(500);
    expect([await ping(idle), await ping(listening)]).toEqual([200, 200]);
    stream.destroy();
  },
);

scenario(
  'slow client: does not delay other clients when it stops reading',
  { downstream: ['http/legacy'] },
  async (cell) => {
    // Closed after the gateway, whose shutdown must not wait for them.
    using held = holding();
    await using line = await cell.open({ one: ['plain'] });
    const { url } = line.gateway;
    for (let index = 0; index < 3; index += 1) {
      const headers = { 'mcp-session-id': await openLegacySession(url) };
      const params = { name: 'one__big', arguments: { bytes: 12 * 1024 * 1024 } };
      held.responses.push(await openMcpResponse(url, { body: request('tools/call', params), headers }));
      held.responses.push(await streamOf(url, headers['mcp-session-id']));
    }
    const others = [line.client, await line.another()];
    for (let round = 0; round < 20; round += 1) {
      const texts = others.map(async (client, index) =>
        textOfResult(await client.callTool('one__echo', { text: `${index}` })),
      );
      expect(await Promise.all(texts)).toEqual(['0', '1']);
    }
    const big = await line.client.callTool('one__big', { bytes: 4 * 1024 * 1024 });
    expect(textOfResult(big)).toHaveLength(4 * 1024 * 1024);
    expect(held.responses.every((response) => !response.complete)).toBe(true);
  },
);

function request(method: string, params: Readonly<Record<string, unknown>> = {}) {
  return { jsonrpc: '2.0', id: 1, method, params };
}

async function streamOf(url: string, session: string): Promise<IncomingMessage> {
  const response = await openMcpResponse(url, {
    headers: { accept: 'text/event-stream', 'mcp-session-id': session },
  });
  expect(response.statusCode).toBe(200);
  return response;
}

function holding() {
  const responses: IncomingMessage[] = [];
  return {
    responses,
    [Symbol.dispose]() {
      for (const response of responses) response.destroy();
    },
  };
}

// MCP 2026-07-28 basic/transports
scenario(
  'HTTP request: is rejected when its Mcp-Param headers contradict the arguments',
  { downstream: ['http/modern'], upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    await waitForTool(line.client, 'one__regional');
    const call = (
      headers: Readonly<Record<string, string>>,
      args: object = { region: 'eu' },
    ): Promise<unknown> =>
      line.client.request('tools/call', { name: 'one__regional', arguments: args }, { headers });
    for (const value of ['eu', '=?base64?ZXU=?='])
      expect(await call({ 'Mcp-Param-Region': value })).toMatchObject({ content: [{ text: 'eu' }] });
    for (const headers of [{}, { 'Mcp-Param-Region': 'us' }, { 'Mcp-Param-Region': '=?base64?ZXU?=' }])
      await expect(call(headers)).rejects.toMatchObject({ code: -32020 });
    await expect(call({ 'Mcp-Param-Region': 'eu' }, {})).rejects.toMatchObject({ code: -32020 });
    expect(line.logs['one']?.of('call').length).toBe(2);
  },
);
