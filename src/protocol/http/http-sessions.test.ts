import { describe, expect, test, vi } from 'vitest';

import { formatSseEvent } from './sse-reader.ts';
import {
  answerJson,
  startLocalServer,
  notification,
  request,
  resultFor,
  startEvents,
  openTransport,
} from './local-server.test-support.ts';
import type { LocalServer, ReceivedRequest } from './local-server.test-support.ts';
import type { ClientTransport } from '../client-transport.ts';

type Handle = Parameters<typeof startLocalServer>[0];

/** A legacy server with sessions; requests after the handshake go to `handle`. */
function sessionServer(handle: Handle): Promise<LocalServer> {
  return startLocalServer((got, response) => {
    if (got.body.method === 'initialize') {
      response.setHeader('Mcp-Session-Id', 's1');
      answerJson(response, resultFor(got.body.id, { protocolVersion: '2025-06-18' }));
    } else if (got.body.method === 'notifications/initialized') response.writeHead(202).end();
    else handle(got, response);
  });
}

const onlyPost: Handle = (got, response) => {
  if (got.method === 'POST') answerJson(response, resultFor(got.body.id));
  else response.writeHead(got.method === 'DELETE' ? 200 : 405).end();
};

async function connected(
  server: LocalServer,
  options: Parameters<typeof openTransport>[1] = {},
): Promise<ReturnType<typeof openTransport>> {
  const opened = openTransport(server.url, options);
  opened.transport.send(request(1, 'initialize'));
  await opened.events.until(() => opened.events.messages.length === 1);
  initialize(opened.transport);
  return opened;
}

function initialize(transport: ClientTransport): void {
  transport.send(notification('notifications/initialized'));
  transport.setProtocol('legacy', '2025-06-18');
}

function find(server: LocalServer, method: string): ReceivedRequest | undefined {
  return server.received.find((got) => got.method === method || got.body.method === method);
}

describe('HTTP session', () => {
  test('session: sends its id and version after initialize, and is deleted on close', async () => {
    const server = await sessionServer(onlyPost);
    const { transport, events } = await connected(server);
    transport.send(request(2));
    await events.until(() => events.messages.length === 2);
    await transport.close();
    const ours = { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-06-18' };
    expect(find(server, 'initialize')?.headers).not.toHaveProperty('mcp-session-id');
    for (const kind of ['notifications/initialized', 'tools/call', 'GET', 'DELETE']) {
      expect(find(server, kind)?.headers).toMatchObject(ours);
    }
    expect(events.closings).toHaveLength(1);
  });

  test('session: delays requests until notifications/initialized is accepted', async () => {
    let take = (): void => {};
    const server = await startLocalServer((got, response) => {
      if (got.body.method !== 'notifications/initialized')
        return answerJson(response, resultFor(got.body.id));
      take = () => response.writeHead(202).end();
    });
    const { transport, events } = await connected(server);
    transport.send(request(3));
    transport.send(request(2));
    expect(transport.abandon(3)).toBe(true);
    await server.until(() => find(server, 'notifications/initialized') !== undefined);
    expect(find(server, 'tools/call')).toBeUndefined();
    take();
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(2));
  });

  test.each([
    ['404', 404, 'Session not found'],
    ['404 and a JSON-RPC error', 404, '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"?"}}'],
    ['400 and a JSON-RPC error', 400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"?"}}'],
  ])('session: is lost when the server answers with %s', async (_name, status, text) => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'POST') answerJson(response, text, status);
      else response.writeHead(405).end();
    });
    const { transport, events } = await connected(server);
    transport.send(request(2));
    await events.until(() => events.closings.length === 1);
    expect(events.failures).toMatchObject([{ id: 2, error: { status, isSessionLost: true } }]);
    await transport.close();
    expect(find(server, 'DELETE')).toBeUndefined();
    expect(events.closings).toHaveLength(1);
  });

  test('session: survives a 404 that carries a JSON-RPC error for the request', async () => {
    const text = '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"?"}}';
    const server = await sessionServer((got, response) => {
      if (got.method === 'POST') answerJson(response, text, 404);
      else response.writeHead(405).end();
    });
    const { transport, events } = await connected(server);
    transport.send(request(2));
    await events.until(() => events.messages.length === 2);
    expect(events.closings).toEqual([]);
  });

  test('session: closes even if its DELETE is never answered', async () => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'GET') response.writeHead(405).end();
    });
    const { transport } = await connected(server);
    await transport.close();
    await server.until(() => server.sockets.size === 0);
    expect(find(server, 'DELETE')?.headers['mcp-session-id']).toBe('s1');
  });
});

describe('listening stream', () => {
  test('listening stream: delivers unsolicited messages and resumes after the last event', async () => {
    let gets = 0;
    const server = await sessionServer((got, response) => {
      if (got.method !== 'GET') return onlyPost(got, response);
      gets++;
      const data = `{"jsonrpc":"2.0","method":"notifications/n${gets}"}`;
      startEvents(response).write(formatSseEvent({ data, id: `e${gets}`, retryMs: 100 }));
      if (gets === 1) response.end();
    });
    const { events } = await connected(server);
    await events.until(() => events.messages.length === 3);
    expect(events.messages[2]).toContain('notifications/n2');
    const tries = server.received.filter((got) => got.method === 'GET');
    expect(tries.map((got) => got.headers['last-event-id'])).toEqual([undefined, 'e1']);
    expect(tries[0]?.headers.accept).toBe('text/event-stream');
  });

  test.each([405, 404])('listening stream: is not retried when the server answers %i', async (status) => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'GET') response.writeHead(status).end();
      else onlyPost(got, response);
    });
    const { transport, events } = await connected(server, { random: () => 0 });
    await server.until(() => find(server, 'GET') !== undefined);
    transport.send(request(2));
    await events.until(() => events.messages.length === 2);
    await pause(300);
    expect(server.received.filter((got) => got.method === 'GET')).toHaveLength(1);
    expect([events.closings, events.warnings]).toEqual([[], []]);
  });

  test('listening stream: is retried after a server error and detects a lost session', async () => {
    const statuses = [503, 200, 404];
    const server = await sessionServer((got, response) => {
      if (got.method !== 'GET') return onlyPost(got, response);
      const status = statuses.shift() ?? 500;
      if (status === 200) startEvents(response).end();
      else response.writeHead(status).end();
    });
    const { events } = await connected(server, { random: () => 0 });
    await events.until(() => events.closings.length === 1);
    expect(events.closings[0]).toMatchObject({ status: 404, isSessionLost: true });
  });

  test('listening stream: does not reconnect after close', async () => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'GET') startEvents(response).end('retry: 300\n\n');
      else onlyPost(got, response);
    });
    const headers = vi.fn<() => Record<string, string>>(() => ({}));
    const { transport } = await connected(server, { headers });
    await server.until(() => find(server, 'GET') !== undefined);
    await pause(50);
    await transport.close();
    const exchanges = headers.mock.calls.length;
    await pause(400);
    expect(headers).toHaveBeenCalledTimes(exchanges);
  });

  test('listening stream: is not opened in the modern era', async () => {
    const server = await startLocalServer(onlyPost);
    const { transport, events } = openTransport(server.url);
    transport.send(request(1, 'server/discover'));
    await events.until(() => events.messages.length === 1);
    transport.setProtocol('modern', '2026-07-28');
    transport.send(request(2));
    await events.until(() => events.messages.length === 2);
    await transport.close();
    expect(server.received.map((got) => got.method)).toEqual(['POST', 'POST']);
  });
});

test('close: ends open responses, leaves no socket behind and reports once', async () => {
  const server = await sessionServer((got, response) => {
    if (got.method === 'DELETE') response.writeHead(200).end();
    else if (got.method === 'GET' || got.body.id % 2 === 0) startEvents(response).write(': open\n\n');
  });
  const { transport, events } = await connected(server, { maxSockets: 3 });
  for (let id = 2; id < 10; id++) transport.send(request(id));
  await server.until(() => server.received.length >= 6);
  const first = transport.close();
  expect(transport.close()).toBe(first);
  await first;
  await server.until(() => server.sockets.size === 0);
  await pause(50);
  expect(server.sockets.size).toBe(0);
  expect(events.closings).toHaveLength(1);
  expect(events.failures).toEqual([]);
  transport.send(request(20));
  await vi.waitFor(() => expect(events.failures).toMatchObject([{ id: 20 }]));
});

test('close: ends idle sockets and opens none for queued requests', async () => {
  const server = await startLocalServer((got, response) => {
    if (got.body.id === 1) answerJson(response, resultFor(1));
  });
  const { transport, events } = openTransport(server.url, { maxSockets: 2, idleSocketMs: 60_000 });
  transport.send(request(1));
  await events.until(() => events.messages.length === 1);
  for (let id = 2; id < 8; id++) transport.send(request(id));
  await server.until(() => server.received.length === 3);
  await transport.close();
  await server.until(() => server.sockets.size === 0);
  await pause(100);
  expect([server.sockets.size, server.connections()]).toEqual([0, 2]);

  const idle = openTransport(server.url, { idleSocketMs: 60_000 });
  idle.transport.send(request(1));
  await idle.events.until(() => idle.events.messages.length === 1);
  expect(server.sockets.size).toBe(1);
  await idle.transport.close();
  await server.until(() => server.sockets.size === 0);
});

/** Gives unexpected messages time to arrive. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
