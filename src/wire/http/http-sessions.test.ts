import { describe, expect, test, vi } from 'vitest';

import { sseEvent } from './frame-sse.ts';
import {
  answerJson,
  localServer,
  notification,
  request,
  resultFor,
  startEvents,
  streamTo,
} from './local-server.test-support.ts';
import type { LocalServer, Received } from './local-server.test-support.ts';
import type { MessageStream } from '../stream.ts';

type Handle = Parameters<typeof localServer>[0];

/** A legacy server with sessions; what is not part of the handshake goes to `handle`. */
function sessionServer(handle: Handle): Promise<LocalServer> {
  return localServer((got, response) => {
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
  options: Parameters<typeof streamTo>[1] = {},
): Promise<ReturnType<typeof streamTo>> {
  const opened = streamTo(server.url, options);
  opened.stream.send(request(1, 'initialize'));
  await opened.events.until(() => opened.events.messages.length === 1);
  shakeHands(opened.stream);
  return opened;
}

function shakeHands(stream: MessageStream): void {
  stream.send(notification('notifications/initialized'));
  stream.negotiated('legacy', '2025-06-18');
}

function find(server: LocalServer, method: string): Received | undefined {
  return server.received.find((got) => got.method === method || got.body.method === method);
}

describe('a session', () => {
  test('is named with the agreed version on everything after initialize, and ended on close', async () => {
    const server = await sessionServer(onlyPost);
    const { stream, events } = await connected(server);
    stream.send(request(2));
    await events.until(() => events.messages.length === 2);
    await stream.close();
    const ours = { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-06-18' };
    expect(find(server, 'initialize')?.headers).not.toHaveProperty('mcp-session-id');
    for (const kind of ['notifications/initialized', 'tools/call', 'GET', 'DELETE']) {
      expect(find(server, kind)?.headers).toMatchObject(ours);
    }
    expect(events.closings).toHaveLength(1);
  });

  test('holds requests back until the server has taken notifications/initialized', async () => {
    let take = (): void => {};
    const server = await localServer((got, response) => {
      if (got.body.method !== 'notifications/initialized')
        return answerJson(response, resultFor(got.body.id));
      take = () => response.writeHead(202).end();
    });
    const { stream, events } = await connected(server);
    stream.send(request(3));
    stream.send(request(2));
    expect(stream.abandon(3)).toBe(true);
    await server.until(() => find(server, 'notifications/initialized') !== undefined);
    expect(find(server, 'tools/call')).toBeUndefined();
    take();
    await events.until(() => events.messages.length === 2);
    expect(events.messages[1]).toBe(resultFor(2));
  });

  test.each([
    ['404', 404, 'Session not found'],
    ['404 and a JSON-RPC error', 404, '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"?"}}'],
    [
      '400 as the example server does',
      400,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"?"}}',
    ],
  ])(
    'that the server forgot, said with %s, fails the request and closes the stream',
    async (_name, status, text) => {
      const server = await sessionServer((got, response) => {
        if (got.method === 'POST') answerJson(response, text, status);
        else response.writeHead(405).end();
      });
      const { stream, events } = await connected(server);
      stream.send(request(2));
      await events.until(() => events.closings.length === 1);
      expect(events.failures).toMatchObject([{ id: 2, error: { status, sessionLost: true } }]);
      await stream.close();
      expect(find(server, 'DELETE')).toBeUndefined();
      expect(events.closings).toHaveLength(1);
    },
  );

  test('is not lost by a 404 that answers the very request', async () => {
    const text = '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"?"}}';
    const server = await sessionServer((got, response) => {
      if (got.method === 'POST') answerJson(response, text, 404);
      else response.writeHead(405).end();
    });
    const { stream, events } = await connected(server);
    stream.send(request(2));
    await events.until(() => events.messages.length === 2);
    expect(events.closings).toEqual([]);
  });

  test('that the server does not let go of delays closing by a second at most', async () => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'GET') response.writeHead(405).end();
    });
    const { stream } = await connected(server);
    const before = performance.now();
    await stream.close();
    expect(performance.now() - before).toBeLessThan(1500);
    await server.until(() => server.sockets.size === 0);
  });
});

describe('the listening stream', () => {
  test('delivers what belongs to no request, and comes back where it left off', async () => {
    let gets = 0;
    const server = await sessionServer((got, response) => {
      if (got.method !== 'GET') return onlyPost(got, response);
      gets++;
      const data = `{"jsonrpc":"2.0","method":"notifications/n${gets}"}`;
      startEvents(response).write(sseEvent({ data, id: `e${gets}`, retryMs: 100 }));
      if (gets === 1) response.end();
    });
    const { events } = await connected(server);
    await events.until(() => events.messages.length === 3);
    expect(events.messages[2]).toContain('notifications/n2');
    const tries = server.received.filter((got) => got.method === 'GET');
    expect(tries.map((got) => got.headers['last-event-id'])).toEqual([undefined, 'e1']);
    expect(tries[0]?.headers.accept).toBe('text/event-stream');
  });

  test.each([405, 404])('is left alone where the server answers %i', async (status) => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'GET') response.writeHead(status).end();
      else onlyPost(got, response);
    });
    const { stream, events } = await connected(server, { random: () => 0 });
    await server.until(() => find(server, 'GET') !== undefined);
    stream.send(request(2));
    await events.until(() => events.messages.length === 2);
    await pause(300);
    expect(server.received.filter((got) => got.method === 'GET')).toHaveLength(1);
    expect([events.closings, events.troubles]).toEqual([[], []]);
  });

  test('is tried again after an error of the server, and tells of a session that is gone by then', async () => {
    const statuses = [503, 200, 404];
    const server = await sessionServer((got, response) => {
      if (got.method !== 'GET') return onlyPost(got, response);
      const status = statuses.shift() ?? 500;
      if (status === 200) startEvents(response).end();
      else response.writeHead(status).end();
    });
    const { events } = await connected(server, { random: () => 0 });
    await events.until(() => events.closings.length === 1);
    expect(events.closings[0]).toMatchObject({ status: 404, sessionLost: true });
  });

  test('does not come back after close', async () => {
    const server = await sessionServer((got, response) => {
      if (got.method === 'GET') startEvents(response).end('retry: 300\n\n');
      else onlyPost(got, response);
    });
    const headers = vi.fn<() => Record<string, string>>(() => ({}));
    const { stream } = await connected(server, { headers });
    await server.until(() => find(server, 'GET') !== undefined);
    await pause(50);
    await stream.close();
    const exchanges = headers.mock.calls.length;
    await pause(400);
    expect(headers).toHaveBeenCalledTimes(exchanges);
  });

  test('does not exist in the modern era', async () => {
    const server = await localServer(onlyPost);
    const { stream, events } = streamTo(server.url);
    stream.send(request(1, 'server/discover'));
    await events.until(() => events.messages.length === 1);
    stream.negotiated('modern', '2026-07-28');
    stream.send(request(2));
    await events.until(() => events.messages.length === 2);
    await stream.close();
    expect(server.received.map((got) => got.method)).toEqual(['POST', 'POST']);
  });
});

test('close ends what is open, leaves no socket behind and says so once', async () => {
  const server = await sessionServer((got, response) => {
    if (got.method === 'DELETE') response.writeHead(200).end();
    else if (got.method === 'GET' || got.body.id % 2 === 0) startEvents(response).write(': open\n\n');
  });
  const { stream, events } = await connected(server, { maxSockets: 3 });
  for (let id = 2; id < 10; id++) stream.send(request(id));
  await server.until(() => server.received.length >= 6);
  const first = stream.close();
  expect(stream.close()).toBe(first);
  await first;
  await server.until(() => server.sockets.size === 0);
  await pause(50);
  expect(server.sockets.size).toBe(0);
  expect(events.closings).toHaveLength(1);
  expect(events.failures).toEqual([]);
  stream.send(request(20));
  await vi.waitFor(() => expect(events.failures).toMatchObject([{ id: 20 }]));
});

test('close also ends idle sockets, and opens none for requests that were still waiting', async () => {
  const server = await localServer((got, response) => {
    if (got.body.id === 1) answerJson(response, resultFor(1));
  });
  const { stream, events } = streamTo(server.url, { maxSockets: 2, idleSocketMs: 60_000 });
  stream.send(request(1));
  await events.until(() => events.messages.length === 1);
  for (let id = 2; id < 8; id++) stream.send(request(id));
  await server.until(() => server.received.length === 3);
  await stream.close();
  await server.until(() => server.sockets.size === 0);
  await pause(100);
  expect([server.sockets.size, server.connections()]).toEqual([0, 2]);

  const idle = streamTo(server.url, { idleSocketMs: 60_000 });
  idle.stream.send(request(1));
  await idle.events.until(() => idle.events.messages.length === 1);
  expect(server.sockets.size).toBe(1);
  await idle.stream.close();
  await server.until(() => server.sockets.size === 0);
});

/** Only to see that nothing happens. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
