import type { ServerResponse } from 'node:http';

import { describe, expect, onTestFinished, test } from 'vitest';

import { Cancellation } from '../../lib/cancellation.ts';
import { sseEvent } from './frame-sse.ts';
import {
  answerJson,
  heard,
  localServer,
  notification,
  request,
  resultFor,
  startEvents,
} from './local-server.test-support.ts';
import type { Heard, LocalServer } from './local-server.test-support.ts';
import { openSseStream } from './sse-client.ts';
import type { MessageStream } from '../stream.ts';

interface SseServer extends LocalServer {
  events(): ServerResponse;
}

async function sseServer(
  endpoint: string,
  onPost: Parameters<typeof localServer>[0] = (_got, response) =>
    void response.writeHead(202).end('Accepted'),
): Promise<SseServer> {
  let stream: ServerResponse | undefined;
  const server = await localServer((got, response) => {
    if (got.method === 'POST') return onPost(got, response);
    stream = startEvents(response);
    stream.write(sseEvent({ event: 'endpoint', data: endpoint }));
  });
  return { ...server, events: () => stream! };
}

async function open(
  url: string,
  cancellation = new Cancellation(),
): Promise<{ stream: MessageStream; events: Heard }> {
  const events = heard();
  const stream = await openSseStream({
    url,
    headers: () => ({ Authorization: 'Bearer t' }),
    events,
    maxMessageBytes: 1_000_000,
    connectTimeoutMs: 300,
    cancellation,
  });
  onTestFinished(() => stream.close());
  return { stream, events };
}

describe('openSseStream', () => {
  test('posts to the endpoint that the server named and hears answers on the stream', async () => {
    const server = await sseServer('/messages?session=1');
    const { stream, events } = await open(server.url);
    stream.negotiated('legacy', '2024-11-05');
    stream.send(request(1));
    await server.until(() => server.received.length === 2);
    expect(server.received[1]).toMatchObject({
      path: '/messages?session=1',
      body: { id: 1 },
      headers: { authorization: 'Bearer t', 'mcp-protocol-version': '2024-11-05' },
    });
    server.events().write(sseEvent({ data: resultFor(1), event: 'message' }));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1)]);
    expect(stream.abandon(1)).toBe(false);
  });

  test('refuses an endpoint on another origin', async () => {
    const server = await sseServer('http://127.0.0.1:1/messages');
    await expect(open(server.url)).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' });
    await server.until(() => server.sockets.size === 0);
  });

  test('rejects with the status where the server offers no stream', async () => {
    const server = await localServer((_got, response) => void response.writeHead(405).end());
    await expect(open(server.url)).rejects.toMatchObject({ status: 405 });
  });

  test('waits for the endpoint no longer than for a connection', async () => {
    const server = await localServer((_got, response) => void startEvents(response).write(': hello\n\n'));
    await expect(open(server.url)).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' });
    await server.until(() => server.sockets.size === 0);
  });

  test('stops waiting when cancelled', async () => {
    const server = await localServer((_got, response) => void startEvents(response).write(': hello\n\n'));
    const cancellation = new Cancellation();
    const opening = open(server.url, cancellation);
    await server.until(() => server.received.length === 1);
    cancellation.cancel(new Error('shutting down'));
    await expect(opening).rejects.toThrow('shutting down');
    await server.until(() => server.sockets.size === 0);
  });

  test('does not begin where it was cancelled before', async () => {
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('shutting down'));
    await expect(open('http://127.0.0.1:1/sse', cancellation)).rejects.toThrow('shutting down');
  });
});

describe('a stream over HTTP+SSE', () => {
  test.each(['ends', 'breaks'])('is closed once when its event stream %s', async (how) => {
    const server = await sseServer('/m');
    const { stream, events } = await open(server.url);
    if (how === 'ends') server.events().end();
    else server.events().destroy();
    await events.until(() => events.closings.length === 1);
    await stream.close();
    expect(events.closings).toHaveLength(1);
  });

  test('leaves no socket behind when closed', async () => {
    const server = await sseServer('/m', () => {});
    const { stream, events } = await open(server.url);
    stream.send(request(1));
    await server.until(() => server.received.length === 2);
    await stream.close();
    await server.until(() => server.sockets.size === 0);
    expect([events.closings.length, events.failures.length]).toEqual([1, 0]);
  });

  test('fails a request that is refused, and lives on', async () => {
    const server = await sseServer('/m', (_got, response) => void response.writeHead(500).end('broken'));
    const { stream, events } = await open(server.url);
    stream.send(request(1));
    stream.send(notification('notifications/cancelled'));
    await events.until(() => events.failures.length === 1 && events.troubles.length === 1);
    expect(events.failures[0]).toMatchObject({ id: 1, error: { status: 500, body: 'broken' } });
    expect(events.closings).toEqual([]);
  });

  test('is lost where the server no longer knows its endpoint', async () => {
    const server = await sseServer('/m', (_got, response) => void response.writeHead(404).end());
    const { stream, events } = await open(server.url);
    stream.send(request(1));
    await events.until(() => events.closings.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ status: 404, sessionLost: true });
  });

  test('takes an answer that comes in the body of the POST', async () => {
    const server = await sseServer('/m', (got, response) => answerJson(response, resultFor(got.body.id)));
    const { stream, events } = await open(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    expect(events.messages).toEqual([resultFor(1)]);
  });

  test('holds requests back until the server has taken notifications/initialized', async () => {
    let take = (): void => {};
    const server = await sseServer('/m', (got, response) => {
      if (got.body.method !== 'notifications/initialized') response.writeHead(202).end();
      else take = () => response.writeHead(202).end();
    });
    const { stream } = await open(server.url);
    stream.send(notification('notifications/initialized'));
    stream.send(request(2));
    await server.until(() => server.received.length === 2);
    expect(server.received[1]?.body.method).toBe('notifications/initialized');
    take();
    await server.until(() => server.received.length === 3);
  });
});
