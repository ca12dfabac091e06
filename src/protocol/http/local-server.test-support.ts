import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { onTestFinished } from 'vitest';

import { openHttpTransport } from './http-transport.ts';
import { serializeRequest } from '../rpc-message.ts';
import type { ClientTransport, OutgoingMessage, TransportEvents } from '../client-transport.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The message in the body. */
  readonly body: { readonly id: number; readonly method: string };
}

export interface LocalServer {
  readonly url: string;
  readonly received: ReceivedRequest[];
  readonly sockets: Set<Socket>;
  /** The number of connections so far, closed ones included. */
  connections(): number;
  /** Resolves when the condition holds; it is checked after every event. */
  until(condition: () => boolean): Promise<void>;
}

export async function startLocalServer(
  handle: (request: ReceivedRequest, response: ServerResponse) => void,
): Promise<LocalServer> {
  const received: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const watch = watcher();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = request;
      const record = { method, path, headers, text, body: text === '' ? {} : JSON.parse(text) };
      received.push(record);
      handle(record, response);
      watch.check();
    });
    // Runs after the listeners of the test.
    response.on('close', () => setImmediate(watch.check));
  });
  // The client closes idle sockets in these tests.
  server.keepAliveTimeout = 60_000;
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      watch.check();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    received,
    sockets,
    connections: () => connections,
    until: watch.until,
  };
}

export interface RecordedEvents extends TransportEvents {
  readonly messages: string[];
  readonly origins: (number | undefined)[];
  readonly failures: { readonly id: number; readonly error: Error }[];
  readonly closings: Error[];
  readonly warnings: Error[];
  until(condition: () => boolean): Promise<void>;
}

/** Returns event handlers that record their calls. */
export function recordEvents(): RecordedEvents {
  const watch = watcher();
  const recorded: RecordedEvents = {
    messages: [],
    origins: [],
    failures: [],
    closings: [],
    warnings: [],
    onMessage: (text, request) => {
      recorded.messages.push(text.toString());
      recorded.origins.push(request);
      watch.check();
    },
    onRequestFailed: (id, error) => {
      recorded.failures.push({ id, error });
      watch.check();
    },
    onClosed: (error) => {
      recorded.closings.push(error);
      watch.check();
    },
    onWarning: (error) => {
      recorded.warnings.push(error);
      watch.check();
    },
    until: watch.until,
  };
  return recorded;
}

function watcher(): { check: () => void; until: (condition: () => boolean) => Promise<void> } {
  const waiting = new Set<() => void>();
  return {
    check: () => {
      for (const check of waiting) check();
    },
    until: (condition) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`Never happened: ${String(condition)}`)), 5000);
        const check = (): void => {
          if (!condition()) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}

/** Opens a transport to the server; it is closed when the test ends. */
export function openTransport(
  url: string,
  options: Partial<Parameters<typeof openHttpTransport>[0]> = {},
): { transport: ClientTransport; events: RecordedEvents } {
  const events = recordEvents();
  const transport = openHttpTransport({
    url,
    headers: () => ({}),
    events,
    maxMessageBytes: 1_000_000,
    connectTimeoutMs: 5000,
    ...options,
  });
  onTestFinished(() => transport.close());
  return { transport, events };
}

export function request(
  id: number,
  method = 'tools/call',
  params: Record<string, unknown> = {},
): OutgoingMessage {
  return { kind: 'request', id, method, params, text: serializeRequest(id, method, params) };
}

export function notification(method: string): OutgoingMessage {
  return { kind: 'notification', method, text: JSON.stringify({ jsonrpc: '2.0', method }) };
}

export function resultFor(id: number, result: unknown = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

export function answerJson(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
}

export function startEvents(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'Content-Type': 'text/event-stream' });
}
