import type { ServerResponse } from 'node:http';

import { describe, expect, onTestFinished, test } from 'vitest';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { formatSseEvent } from './sse-reader.ts';
import {
  answerJson,
  recordEvents,
  startLocalServer,
  notification,
  request,
  resultFor,
  startEvents,
} from './local-server.test-support.ts';
import type { RecordedEvents, LocalServer } from './local-server.test-support.ts';
import { openSseTransport } from './sse-transport.ts';
import type { ClientTransport } from '../client-transport.ts';

interface SseServer extends LocalServer {
  events(): ServerResponse;
}

async function sseServer(
  endpoint: string,
  onPost: Parameters<typeof startLocalServer>[0] = (_got, response) =>
    void response.writeHead(202).end('Accepted'),
): Promise<SseServer> {
  let stream: ServerResponse | undefined;
  const server = await startLocalServer((got, response) => {
    if (got.method === 'POST') return onPost(got, response);
    stream = startEvents(response);
    stream.write(formatSseEvent({ event: 'endpoint', data: endpoint }));
  });
  return { ...server, events: () => stream! };
}

async function open(
  url: string,
  cancellation = new Cancellation(),
): Promise<{ transport: ClientTransport; events: RecordedEvents }> {
  const events = recordEvents();
  const transport = await openSseTransport({
    url,
    headers: () => ({ Authorization: 'Bearer t' }),
    events,
    maxMessageBytes: 1_000_000,
    connectTimeoutMs: 300,
    cancellation,
  });
  onTestFinished(() => transport.close());
  return { transport, events };
}

describe('openSseTransport', () => {
  test('SSE transport: posts to the announced endpoint and receives responses on the stream', async () => {
    const server = await sseServer('/messages?session=1');
    const { transport, events } = await open(server.url);
    transport.setProtocol('legacy', '2024-11-05');
    transport.send(request(1));
    await server.until(() => server.received.length === 2);
    expect(server.received[1]).toMatchObject({
      path: '/messages?session=1',
      body: { id: 1 },
      headers: { authorization: 'Bearer t', 'mcp-protocol-version': '2024-11-05' },
    });
    server.events().write(formatSseEvent({ data: resultFor(1), event: 'message' }));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1)]);
    expect(transport.abandon(1)).toBe(false);
  });

  test('SSE transport: rejects an endpoint on another origin', async () => {
    const server = await sseServer('http://127.0.0.1:1/messages');
    await expect(open(server.url)).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' });
    await server.until(() => server.sockets.size === 0);
  });

  test('SSE transport: rejects with the HTTP status when there is no stream', async () => {
    const server = await startLocalServer((_got, response) => void response.writeHead(405).end());
    await expect(open(server.url)).rejects.toMatchObject({ status: 405 });
  });

  test('SSE transport: times out when no endpoint is announced', async () => {
    const server = await startLocalServer(
      (_got, response) => void startEvents(response).write(': hello\n\n'),
    );
    await expect(open(server.url)).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' });
    await server.until(() => server.sockets.size === 0);
  });

  test('SSE transport: stops waiting when cancelled', async () => {
    const server = await startLocalServer(
      (_got, response) => void startEvents(response).write(': hello\n\n'),
    );
    const cancellation = new Cancellation();
    const opening = open(server.url, cancellation);
    await server.until(() => server.received.length === 1);
    cancellation.cancel(new Error('shutting down'));
    await expect(opening).rejects.toThrow('shutting down');
    await server.until(() => server.sockets.size === 0);
  });

  test('SSE transport: does not connect when already cancelled', async () => {
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('shutting down'));
    await expect(open('http://127.0.0.1:1/sse', cancellation)).rejects.toThrow('shutting down');
  });
});

describe('open SSE stream', () => {
  test.each(['ends', 'breaks'])('SSE transport: closes once when its event stream %s', async (how) => {
    const server = await sseServer('/m');
    const { transport, events } = await open(server.url);
    if (how === 'ends') server.events().end();
    else server.events().destroy();
    await events.until(() => events.closings.length === 1);
    await transport.close();
    expect(events.closings).toHaveLength(1);
  });

  test('SSE transport: leaves no socket behind when closed', async () => {
    const server = await sseServer('/m', () => {});
    const { transport, events } = await open(server.url);
    transport.send(request(1));
    await server.until(() => server.received.length === 2);
    await transport.close();
    await server.until(() => server.sockets.size === 0);
    expect([events.closings.length, events.failures.length]).toEqual([1, 0]);
  });

  test('SSE transport: fails a rejected request and stays open', async () => {
    const server = await sseServer('/m', (_got, response) => void response.writeHead(500).end('broken'));
    const { transport, events } = await open(server.url);
    transport.send(request(1));
    transport.send(notification('notifications/cancelled'));
    await events.until(() => events.failures.length === 1 && events.warnings.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { status: 500, body: 'broken' } });
    expect(events.closings).toEqual([]);
  });

  test('SSE transport: reports a lost session when the endpoint returns 404', async () => {
    const server = await sseServer('/m', (_got, response) => void response.writeHead(404).end());
    const { transport, events } = await open(server.url);
    transport.send(request(1));
    await events.until(() => events.closings.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ status: 404, isSessionLost: true });
  });

  test('SSE transport: accepts a response in the body of the POST', async () => {
    const server = await sseServer('/m', (got, response) => answerJson(response, resultFor(got.body.id)));
    const { transport, events } = await open(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1)]);
  });

  test('SSE transport: delays requests until notifications/initialized is accepted', async () => {
    let take = (): void => {};
    const server = await sseServer('/m', (got, response) => {
      if (got.body.method !== 'notifications/initialized') response.writeHead(202).end();
      else take = () => response.writeHead(202).end();
    });
    const { transport } = await open(server.url);
    transport.send(notification('notifications/initialized'));
    transport.send(request(2));
    await server.until(() => server.received.length === 2);
    expect(server.received[1]?.body.method).toBe('notifications/initialized');
    take();
    await server.until(() => server.received.length === 3);
  });
});
