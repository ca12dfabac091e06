import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { waitForValue } from './eventually.ts';
import { startGateway } from './gateway.ts';
import type { RunningGateway } from './gateway.ts';

export const MEBIBYTE = 1024 * 1024;
export const EVENT_STREAM =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

export interface HostileServer extends AsyncDisposable {
  readonly url: string;
  /** Resolves when a call was answered as far as it is. */
  readonly sent: Promise<void>;
}

type Answer = (socket: Socket, message: Message) => Promise<void>;

/** An HTTP server that behaves well except for the messages in `answers`, which it answers with raw bytes. */
export async function startHostileServer(answers: Readonly<Record<string, Answer>>): Promise<HostileServer> {
  let setSent = (): void => {};
  const sent = new Promise<void>((resolve) => (setSent = resolve));
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += String(chunk)));
    request.on('end', () => {
      const message = text === '' ? {} : (JSON.parse(text) as Message);
      const answer =
        answers[message.method ?? (message.id === undefined ? (request.method ?? '') : 'response')];
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

export interface Message {
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

export function gatewayFor(server: HostileServer): Promise<RunningGateway> {
  return startGateway({ mcpServers: { hostile: { url: server.url } }, listen: 'http' });
}

/** Posts a message, or opens a stream with a GET, and returns the response when its headers have arrived, without reading the body. */
export function openUnread(
  url: string,
  session: string,
  body?: object,
  accept = 'application/json, text/event-stream',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept, 'content-type': 'application/json', 'mcp-session-id': session };
    const method = body === undefined ? 'GET' : 'POST';
    httpRequest(url, { agent: false, method, headers })
      .on('response', (response) => resolve(response.on('error', () => {})))
      .on('error', reject)
      .end(body && JSON.stringify({ jsonrpc: '2.0', ...body }));
  });
}

/** Returns an event with a message, as a chunk of a body. */
export function eventChunk(message: object): string {
  const event = `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
  return `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`;
}

/** Sends `head` and `count` times `part`, as fast as the other side reads; resolves when all of it was sent or refused. */
export async function sendAll(socket: Socket, head: string, part: string, count: number): Promise<void> {
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
export async function growth(gateway: RunningGateway, attack: () => Promise<void>): Promise<number> {
  const before = await waitForValue(() => peakOf(gateway), { what: 'The size of the gateway' });
  await attack();
  return (peakOf(gateway) ?? Infinity) - before;
}

function peakOf(gateway: RunningGateway): number | undefined {
  const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
