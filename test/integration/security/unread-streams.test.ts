import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { expect, test } from 'vitest';

import { deferred } from '../../../src/core/lib/deferred.ts';
import { eventually, waitForValue } from '../../support/eventually.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import {
  EVENT_STREAM,
  MEBIBYTE,
  eventChunk,
  gatewayFor,
  growth,
  openUnread,
  sendAll,
  startHostileServer,
} from '../../support/hostile-server.ts';
import { initializeBody, sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

/** The gateway took up to 250 MiB for 400 MiB of messages; with all requests in memory, it took 600 MiB. */
const MAX_GROWTH = 400 * MEBIBYTE;
const LARGE_TEXT = 'x'.repeat(4 * MEBIBYTE);
const DISCONNECTED = 'Disconnected a client that did not read its responses.';
const CALL = { id: 2, method: 'tools/call', params: { name: 'hostile__tool', arguments: {} } };

/** What a hostile server sends on a stream. */
const MESSAGES = {
  'log messages': (data: string) => ({
    method: 'notifications/message',
    params: { level: 'error', data },
  }),
  'sampling requests': (text: string, id: number) => ({
    id,
    method: 'sampling/createMessage',
    params: { maxTokens: 1, messages: [{ role: 'user', content: { type: 'text', text } }] },
  }),
  'elicitation requests': (title: string, id: number) => ({
    id,
    method: 'elicitation/create',
    params: {
      message: 'Name?',
      requestedSchema: { type: 'object', properties: { a: { type: 'string', title } } },
    },
  }),
} as const;
type Kind = keyof typeof MESSAGES;

test('unread call: a client that stopped reading is disconnected, and others are served', async () => {
  expect(await attackCall('log messages', 10)).toBeLessThan(MAX_GROWTH);
});

test('unread stream: a client that stopped reading is disconnected, and others are served', async () => {
  expect(await attackStream(0, 10)).toBeLessThan(MAX_GROWTH);
});

test.each(Object.keys(MESSAGES) as Kind[])(
  'unread call: large %s for a client that stopped reading take bounded memory',
  { tags: ['slow'] },
  async (kind) => {
    expect(await attackCall(kind, 100)).toBeLessThan(MAX_GROWTH);
  },
);

test.each([0, 1])(
  'unread stream: large notifications to a client that reads %d bytes per second take bounded memory',
  { tags: ['slow'] },
  async (bytesPerSecond) => {
    expect(await attackStream(bytesPerSecond, 100)).toBeLessThan(MAX_GROWTH);
  },
);

test(
  'unread responses: clients that read nothing are disconnected before they take all memory',
  { tags: ['slow'] },
  async () => {
    expect(await leaveResultsUnread('application/json, text/event-stream')).toContain(DISCONNECTED);
  },
);

test(
  'unread responses: clients that read no event streams are disconnected before they take all memory',
  { tags: ['slow'] },
  async () => {
    expect(await leaveResultsUnread('text/event-stream')).toContain(DISCONNECTED);
  },
);

/** Sends messages of 4 MiB during a call whose client reads only the first, small one; returns by how much the gateway grew. */
async function attackCall(kind: Kind, count: number): Promise<number> {
  const released = deferred<void>();
  await using server = await startHostileServer({
    'tools/call': async (socket) => {
      socket.write(EVENT_STREAM + eventChunk(MESSAGES[kind]('first', 1)));
      await released.promise;
      for (let sent = 0; sent < count && !socket.destroyed; sent++)
        await sendAll(socket, '', eventChunk(MESSAGES[kind](LARGE_TEXT, sent + 2)), 1);
      socket.end('0\r\n\r\n');
    },
  });
  await using gateway = await gatewayFor(server);
  const session = await openSession(gateway.url);
  // Log messages are sent only to clients that have set a level.
  const level = { id: 3, method: 'logging/setLevel', params: { level: 'debug' } };
  (await openUnread(gateway.url, session, level)).resume();
  const call = await openUnread(gateway.url, session, CALL);
  await readUntil(call, 'first');
  const grown = await growth(gateway, async () => {
    released.resolve();
    await expectDisconnection(gateway);
    await server.sent;
  });
  call.destroy();
  return grown;
}

/** Sends notifications of 4 MiB outside of calls, of which the client reads only the first, small one. */
async function attackStream(bytesPerSecond: number, count: number): Promise<number> {
  const opened = deferred<Socket>();
  await using server = await startHostileServer({
    GET: (socket) => {
      socket.write(EVENT_STREAM);
      opened.resolve(socket);
      return Promise.resolve();
    },
  });
  await using gateway = await gatewayFor(server);
  // At this path, notifications that the gateway does not know reach the client.
  const url = `${gateway.url}/s/hostile`;
  const stream = await openUnread(url, await openSession(url));
  const socket = await opened.promise;
  const notify = (text: string): string => eventChunk({ method: 'notifications/custom', params: { text } });
  socket.write(notify('first'));
  await readUntil(stream, 'first');
  const timer = bytesPerSecond === 0 ? undefined : setInterval(() => stream.read(bytesPerSecond), 1000);
  const grown = await growth(gateway, async () => {
    await sendAll(socket, '', notify(LARGE_TEXT), count);
    await expectDisconnection(gateway);
  });
  clearInterval(timer);
  stream.destroy();
  return grown;
}

/** Makes calls whose results have 8 MiB, reads none of the results, and returns the log of the gateway. */
async function leaveResultsUnread(accept: string): Promise<string> {
  const text = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(8 * MEBIBYTE) }] });
  await using server = await startHostileServer({
    'tools/call': (socket, { id }) => {
      const body = `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
      const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      return sendAll(socket, head, body, 1);
    },
  });
  await using gateway = await gatewayFor(server);
  const session = await openSession(gateway.url);
  const clients: IncomingMessage[] = [];
  // Forty of them are more than the limit of 256 MiB.
  for (let count = 0; count < 40; count++) clients.push(await openUnread(gateway.url, session, CALL, accept));
  await expectDisconnection(gateway);
  for (const client of clients) client.destroy();
  return gateway.stderr();
}

/** Opens a session of a client that can be asked everything. */
async function openSession(url: string): Promise<string> {
  const body = JSON.parse(initializeBody) as { params: object };
  const params = { ...body.params, capabilities: { sampling: {}, elicitation: {} } };
  const { headers } = await sendRequest(url, { body: JSON.stringify({ ...body, params }) });
  return String(headers['mcp-session-id']);
}

/** Reads a response until a text has arrived, and reads no more from then on. */
async function readUntil(response: IncomingMessage, text: string): Promise<void> {
  let read = '';
  response.on('data', (chunk: Buffer) => (read += String(chunk)));
  await eventually(() => expect(read).toContain(text));
  response.pause().removeAllListeners('data');
}

/** Waits until a client has been disconnected, and checks that others are served. */
async function expectDisconnection(gateway: RunningGateway): Promise<void> {
  await waitForValue(() => gateway.stderr().includes(DISCONNECTED) || undefined, {
    what: 'The disconnection',
  });
  await using other = await gateway.client();
  expect(JSON.stringify(await other.request('tools/list', {}))).toContain('hostile__tool');
}
