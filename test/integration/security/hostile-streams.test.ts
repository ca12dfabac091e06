import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

import { expect, test } from 'vitest';

import { waitForValue } from '../../support/eventually.ts';
import { measureEventLoopDelay } from '../../support/event-loop-delay.ts';
import { startGateway } from '../../support/gateway.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { sendRequest, initializeBody } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const MEBIBYTE = 1024 * 1024;
const MANY = MEBIBYTE;
/** Without the defences, each attack takes more than twice this much. */
const MAX_GROWTH = 150 * MEBIBYTE;
/** Generous, for a busy machine; without the defence, such a machine took 9 s. The unit test of `readInTurns` is exact. */
const MAX_DELAY_MS = 1000;
const EVENT_STREAM =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

test('single bytes: a response in chunks of one byte takes memory in proportion to its size', async () => {
  await using server = await startHostileServer({
    'tools/call': (socket) => sendAll(socket, EVENT_STREAM, '1\r\nx\r\n', MANY),
  });
  await using gateway = await gatewayFor(server);
  expect(await growth(gateway, () => callUntilSent(gateway, server))).toBeLessThan(MAX_GROWTH);
});

test('empty lines: an event of empty data lines takes memory in proportion to its size', async () => {
  const lines = 'data\n'.repeat(1000);
  const chunk = `${lines.length.toString(16)}\r\n${lines}\r\n`;
  await using server = await startHostileServer({
    'tools/call': (socket) => sendAll(socket, EVENT_STREAM, chunk, (6 * MANY) / 1000),
  });
  await using gateway = await gatewayFor(server);
  expect(await growth(gateway, () => callUntilSent(gateway, server))).toBeLessThan(MAX_GROWTH);
});

test('single bytes: a request body in chunks of one byte takes memory in proportion to its size', async () => {
  await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
  const head =
    'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const attack = async (): Promise<void> => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => {});
    await sendAll(socket, head, '1\r\n \r\n', MANY);
    await new Promise((resolve) => socket.end('0\r\n\r\n').resume().on('close', resolve));
  };
  expect(await growth(gateway, attack)).toBeLessThan(MAX_GROWTH);
});

test('requests of a server: one that answers no response to them is disconnected', async () => {
  const ping = 'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n'.repeat(100);
  const chunk = `${ping.length.toString(16)}\r\n${ping}\r\n`;
  await using server = await startHostileServer({
    'tools/call': (socket) => sendAll(socket, EVENT_STREAM, chunk, 100),
    response: () => Promise.resolve(),
  });
  await using gateway = await gatewayFor(server);
  await using client = await gateway.client();
  const result = await client.request('tools/call', { name: 'hostile__tool', arguments: {} });
  expect(JSON.stringify(result)).toContain('does not accept the messages');
});

test('unread responses: clients that read nothing are disconnected before they take all memory', async () => {
  const text = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(8 * MEBIBYTE) }] });
  await using server = await startHostileServer({
    'tools/call': (socket, { id }) => {
      const body = `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
      return sendAll(
        socket,
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
        body,
        1,
      );
    },
  });
  await using gateway = await gatewayFor(server);
  const { headers } = await sendRequest(gateway.url, { body: initializeBody });
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'hostile__tool' },
  });
  const clients: IncomingMessage[] = [];
  // Forty of them are more than the limit of 256 MiB.
  for (let count = 0; count < 40; count++)
    clients.push(await openUnread(gateway.url, String(headers['mcp-session-id']), body));
  const isLogged = (): true | undefined =>
    gateway.stderr().includes('Disconnected a client that did not read its responses.') || undefined;
  expect(await waitForValue(isLogged, { what: 'The end of a connection' })).toBe(true);
  for (const client of clients) client.destroy();
});

test('slow server: a response of one byte at a time ends at the timeout of its call, and others are served', async () => {
  await using server = await startHostileServer({
    'tools/call': (socket) => {
      socket.write(EVENT_STREAM);
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 100);
      return new Promise((resolve) => {
        socket.once('close', () => {
          clearInterval(timer);
          resolve();
        });
      });
    },
  });
  const mcpServers = { hostile: { url: server.url, timeouts: { call: '1s' } } };
  await using gateway = await startGateway({ mcpServers, listen: 'http' });
  await using client = await gateway.client();
  const call = client.request('tools/call', { name: 'hostile__tool', arguments: {} });
  await using other = await gateway.client();
  expect(JSON.stringify(await other.request('tools/list', {}))).toContain('hostile__tool');
  expect(JSON.stringify(await call)).toContain('CALL_TIMEOUT');
  await server.sent;
});

test(
  'unread stream: large notifications to a client that reads neither its stream nor its response take bounded memory',
  { tags: ['slow'] },
  async () => {
    const data = JSON.stringify('x'.repeat(4 * MEBIBYTE));
    const message = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${data}}}\n\n`;
    const chunk = `${message.length.toString(16)}\r\n${message}\r\n`;
    await using server = await startHostileServer({
      'tools/call': async (socket, { id }) => {
        // 400 MiB, of which at most 256 MiB may wait for HTTP clients.
        await sendAll(socket, EVENT_STREAM, chunk, 100);
        const result = `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`;
        socket.end(`${result.length.toString(16)}\r\n${result}\r\n0\r\n\r\n`);
      },
    });
    await using gateway = await gatewayFor(server);
    const { headers } = await sendRequest(gateway.url, { body: initializeBody });
    const session = String(headers['mcp-session-id']);
    const stream = await openUnread(gateway.url, session, undefined);
    const params = { name: 'hostile__tool' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
    const attack = async (): Promise<void> => {
      const called = await openUnread(gateway.url, session, body);
      await server.sent;
      expect((await sendRequest(new URL('/healthz', gateway.url))).status).toBe(200);
      called.destroy();
    };
    const grown = await growth(gateway, attack);
    expect(grown).toBeLessThan(300 * MEBIBYTE);
    stream.destroy();
  },
);

test('flood: a server that writes short lines without end delays nobody else', async () => {
  const script = `
    process.stdin.on('data', () => {});
    const flood = () => { while (process.stdout.write('x\\n'.repeat(30000))); process.stdout.once('drain', flood); };
    flood();`;
  const mcpServers = { flood: { command: process.execPath, args: ['-e', script] } };
  await using gateway = await startGateway({ mcpServers, listen: 'http' });
  await waitForValue(() => gateway.stderr().includes('not JSON-RPC') || undefined, { what: 'The flood' });
  await using delay = await measureEventLoopDelay(gateway);
  for (let count = 0; count < 3; count++) await sendRequest(new URL('/healthz', gateway.url));
  expect(await delay.longestMs()).toBeLessThan(MAX_DELAY_MS);
});

interface HostileServer extends AsyncDisposable {
  readonly url: string;
  /** Resolves when a call was answered as far as it is. */
  readonly sent: Promise<void>;
}

type Answer = (socket: Socket, message: Message) => Promise<void>;

/** An HTTP server that behaves well except for the messages in `answers`, which it answers with raw bytes. */
async function startHostileServer(answers: Readonly<Record<string, Answer>>): Promise<HostileServer> {
  let setSent = (): void => {};
  const sent = new Promise<void>((resolve) => (setSent = resolve));
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += String(chunk)));
    request.on('end', () => {
      const message = text === '' ? {} : (JSON.parse(text) as Message);
      const answer = answers[message.method ?? (message.id === undefined ? '' : 'response')];
      if (answer === undefined) answerHonestly(message, request, response);
      else void answer(request.socket, message).then(setSent);
    });
  });
  // A reset is one way of being cut off.
  server.on('connection', (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'hostile', version: '1' },
  },
  'logging/setLevel': {},
  'tools/list': { tools: [{ name: 'tool', description: 'A tool.', inputSchema: { type: 'object' } }] },
};

function answerHonestly(message: Message, request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'GET') return void response.writeHead(405).end();
  const result = RESULTS[message.method ?? ''];
  if (message.id === undefined) return void response.writeHead(202).end();
  const error = { code: -32601, message: 'Method not found' };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(
    JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(result === undefined ? { error } : { result }) }),
  );
}

function gatewayFor(server: HostileServer): Promise<RunningGateway> {
  return startGateway({ mcpServers: { hostile: { url: server.url } }, listen: 'http' });
}

/** Calls the tool, and returns when the server has sent everything and the gateway has read it. */
async function callUntilSent(gateway: RunningGateway, server: HostileServer): Promise<void> {
  await using client = await gateway.client();
  const call = client.request('tools/call', { name: 'hostile__tool', arguments: {} }).catch(() => {});
  await Promise.race([server.sent, call]);
  await sendRequest(new URL('/healthz', gateway.url));
}

/** Posts a message, or opens a stream with a GET, and returns the response when its headers have arrived, without reading the body. */
function openUnread(url: string, session: string, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'mcp-session-id': session };
    const accept = 'application/json, text/event-stream';
    const method = body === undefined ? 'GET' : 'POST';
    httpRequest(url, { agent: false, method, headers: { ...headers, accept } })
      .on('response', (response) => resolve(response.on('error', () => {})))
      .on('error', reject)
      .end(body);
  });
}

/** Sends `head` and `count` times `part`, as fast as the other side reads; resolves when all of it was sent or refused. */
async function sendAll(socket: Socket, head: string, part: string, count: number): Promise<void> {
  const perBlock = Math.max(1, Math.floor((64 * 1024) / part.length));
  const block = part.repeat(perBlock);
  socket.write(head);
  for (let sent = 0; sent < count && !socket.destroyed; sent += perBlock) {
    await new Promise<void>((resolve) => {
      socket.once('close', resolve).write(block, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
  }
}

/** Returns by how many bytes an attack raised the largest resident size that the gateway has had. */
async function growth(gateway: RunningGateway, attack: () => Promise<void>): Promise<number> {
  const before = await waitForValue(() => peakOf(gateway), { what: 'The size of the gateway' });
  await attack();
  return (peakOf(gateway) ?? Infinity) - before;
}

function peakOf(gateway: RunningGateway): number | undefined {
  const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
