import { createServer, get } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { SseResponse, UnsentResponses } from './sse-response.ts';

it('SSE response: keeps a message with line breaks in one event', async () => {
  const server = createServer((_, response) => {
    const stream = new SseResponse(response, { maxBufferedBytes: 1000, onSlowClient: () => {} });
    stream.start(['X-More', '1']);
    stream.send('{\n"a":\r\n1}');
    stream.end();
    stream.send('too late');
    stream.tick();
    stream.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(answer.headers.get('x-more')).toBe('1');
  expect(await answer.text()).toBe('event: message\ndata: {\ndata: "a":\ndata: 1}\n\n');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('SSE response: counts small events that are not read towards the limit of all clients', async () => {
  const responses: ServerResponse[] = [];
  const server = createServer((_, response) => {
    responses.push(response);
    response.flushHeaders();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients = await Promise.all(
    [1, 2].map(() => new Promise<IncomingMessage>((resolve) => get(url, { agent: false }, resolve))),
  );
  const disconnected: number[] = [];
  const onSlowClient = (bytes: number): void => void disconnected.push(bytes);
  const limits = {
    maxBufferedBytes: 100_000_000,
    onSlowClient,
    unsent: new UnsentResponses(3_000_000, onSlowClient),
  };
  const streams = responses.map((response) => new SseResponse(response, limits));
  // In one turn of the event loop, nothing is passed to the operating system.
  for (let count = 0; count < 200; count++) for (const stream of streams) stream.send('x'.repeat(10_000));
  expect(disconnected).toHaveLength(1);
  expect(streams.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  for (const client of clients) client.on('error', () => {}).destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('SSE response: reports a client that does not read once, although its connection closes later', async () => {
  const disconnected: number[] = [];
  const server = createServer((_, response) => {
    const onSlowClient = (bytes: number): void => void disconnected.push(bytes);
    const stream = new SseResponse(response, { maxBufferedBytes: 100_000_000, onSlowClient });
    stream.start([]);
    stream.send('x'.repeat(1_000_000));
    // In one turn of the event loop, nothing is sent and no connection closes.
    for (let count = 0; count < 20; count++) stream.tick();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => get(`http://127.0.0.1:${port}`, { agent: false }).once('error', resolve));
  expect(disconnected).toHaveLength(1);
  await new Promise((resolve) => server.close(resolve));
});
