import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { onTestFinished } from 'vitest';

import { openHttpStream } from './http-client.ts';
import { requestText } from '../message.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../stream.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The message in the body. */
  readonly body: { readonly id: number; readonly method: string };
}

export interface LocalServer {
  readonly url: string;
  readonly received: Received[];
  readonly sockets: Set<Socket>;
  /** How many there ever were. */
  connections(): number;
  /** Resolves as soon as the condition holds; it is looked at whenever something happens. */
  until(condition: () => boolean): Promise<void>;
}

export async function localServer(
  handle: (request: Received, response: ServerResponse) => void,
): Promise<LocalServer> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const watch = watcher();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, text, body: text === '' ? {} : JSON.parse(text) };
      received.push(one);
      handle(one, response);
      watch.look();
    });
    // After the listeners that the test itself puts there.
    response.on('close', () => setImmediate(watch.look));
  });
  // Idle sockets are the client's business here.
  server.keepAliveTimeout = 60_000;
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      watch.look();
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

export interface Heard extends StreamEvents {
  readonly messages: string[];
  readonly origins: (number | undefined)[];
  readonly failures: { readonly id: number; readonly error: Error }[];
  readonly closings: Error[];
  readonly troubles: Error[];
  until(condition: () => boolean): Promise<void>;
}

/** Events that remember what they were told. */
export function heard(): Heard {
  const watch = watcher();
  const heardSoFar: Heard = {
    messages: [],
    origins: [],
    failures: [],
    closings: [],
    troubles: [],
    message: (text, request) => {
      heardSoFar.messages.push(text.toString());
      heardSoFar.origins.push(request);
      watch.look();
    },
    failed: (id, error) => {
      heardSoFar.failures.push({ id, error });
      watch.look();
    },
    closed: (error) => {
      heardSoFar.closings.push(error);
      watch.look();
    },
    trouble: (error) => {
      heardSoFar.troubles.push(error);
      watch.look();
    },
    until: watch.until,
  };
  return heardSoFar;
}

function watcher(): { look: () => void; until: (condition: () => boolean) => Promise<void> } {
  const waiting = new Set<() => void>();
  return {
    look: () => {
      for (const check of [...waiting]) check();
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

/** A stream to that server which the test need not close. */
export function streamTo(
  url: string,
  options: Partial<Parameters<typeof openHttpStream>[0]> = {},
): { stream: MessageStream; events: Heard } {
  const events = heard();
  const stream = openHttpStream({
    url,
    headers: () => ({}),
    events,
    maxMessageBytes: 1_000_000,
    connectTimeoutMs: 5000,
    ...options,
  });
  onTestFinished(() => stream.close());
  return { stream, events };
}

export function request(id: number, method = 'tools/call', params: Record<string, unknown> = {}): Outgoing {
  return { kind: 'request', id, method, params, text: requestText(id, method, params) };
}

export function notification(method: string): Outgoing {
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
