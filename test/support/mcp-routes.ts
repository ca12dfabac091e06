import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import { createMcpRoutes } from '../../src/downstream/http/mcp-routes.ts';
import type { McpRoutes, McpRouteOptions } from '../../src/downstream/http/mcp-routes.ts';
import { listen } from '../../src/downstream/http/listen.ts';
import type { ListenLimits, HttpListener } from '../../src/downstream/http/listen.ts';
import type { ConnectSession } from '../../src/downstream/sessions/session-store.ts';
import { Payload } from '../../src/core/lib/payload.ts';
import { callerIdentity } from '../../src/core/caller.ts';
import { silentLogger } from '../../src/observability/log.ts';
import type { Logger } from '../../src/observability/log.ts';
import type { ClientChannel, IncomingRequest } from '../../src/protocol/client-connection.ts';
import { Inbox } from './inbox.ts';
import { withEnvelope, modernHeaders } from './modern-envelope.ts';
import { sseReader } from './sse-events.ts';
import type { SseEvent } from './sse-events.ts';

type JsonObject = Record<string, unknown>;
type Answer = (request: IncomingRequest, connection: FakeConnection) => void;

/** The connection that the routes created for a session or a modern POST. */
export interface FakeConnection {
  readonly path: string;
  readonly channel: ClientChannel;
  readonly notifications: { readonly method: string; readonly params: unknown }[];
  readonly responses: unknown[];
  closed: number;
  /** How often the routes reported that its client listens again. */
  returned: number;
}

export interface RouteResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Messages from the body or from the events. */
  readonly messages: readonly JsonObject[];
}

export interface Stream extends AsyncDisposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: Inbox<SseEvent>;
  readonly comments: Inbox<string>;
  readonly ended: Promise<void>;
  readonly message: IncomingMessage;
}

/** MCP routes on a real HTTP server, with responses that the test defines. */
export class TestRoutes implements AsyncDisposable {
  readonly connections: FakeConnection[] = [];
  readonly logged: string[] = [];
  /** Stored sessions, with the identity of their caller. */
  readonly opened: { readonly id: string; readonly caller: string }[] = [];
  readonly routes: McpRoutes;
  listener!: HttpListener;

  constructor(answers: Readonly<Record<string, Answer>>, options: Partial<McpRouteOptions>) {
    const connect: ConnectSession = ({ channel, path, stored: kept, caller }) => {
      if (kept !== undefined) this.opened.push({ id: kept.id, caller: callerIdentity(caller) });
      return this.#connect(channel, path, answers);
    };
    this.routes = createMcpRoutes({
      connect,
      allowedHosts: [],
      allowedOrigins: [],
      maxSessions: 100,
      sessionIdleMs: 60_000,
      maxBodyBytes: 1024 * 1024,
      isReady: () => true,
      log: recording(this.logged),
      ...options,
    });
  }

  static async start(
    answers: Readonly<Record<string, Answer>> = {},
    options: Partial<McpRouteOptions> & {
      readonly limits?: Partial<ListenLimits>;
      readonly address?: string;
    } = {},
  ): Promise<TestRoutes> {
    const { limits = {}, address = '127.0.0.1:0', ...rest } = options;
    const test = new TestRoutes(answers, rest);
    test.listener = await listen({ address, routes: test.routes, log: silentLogger, limits });
    return test;
  }

  get url(): string {
    return new URL('/mcp', this.listener.url).href;
  }

  send(method: string, path: string, options: SendOptions = {}): Promise<RouteResponse> {
    return send(new URL(path, this.listener.url), method, options);
  }

  post(message: unknown, headers: Record<string, string> = {}): Promise<RouteResponse> {
    return this.send('POST', '/mcp', {
      body: typeof message === 'string' ? message : JSON.stringify(message),
      headers,
    });
  }

  modern(
    method: string,
    params: JsonObject = {},
    headers: Record<string, string> = {},
  ): Promise<RouteResponse> {
    const message = { jsonrpc: '2.0', id: 7, method, params: withEnvelope(params, {}) };
    return this.post(message, { ...modernHeaders(method, params), ...headers });
  }

  /** Opens a session and returns its headers. */
  async session(protocolVersion = '2025-11-25'): Promise<{ 'mcp-session-id': string }> {
    const { headers } = await this.post({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion },
    });
    return { 'mcp-session-id': String(headers['mcp-session-id']) };
  }

  stream(method: string, path: string, options: SendOptions = {}): Promise<Stream> {
    return openStream(new URL(path, this.listener.url), method, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.routes[Symbol.asyncDispose]();
    await this.listener?.close();
  }

  #connect(channel: ClientChannel, path: string, answers: Readonly<Record<string, Answer>>) {
    const connection: FakeConnection = {
      channel,
      path,
      notifications: [],
      responses: [],
      closed: 0,
      returned: 0,
    };
    this.connections.push(connection);
    return {
      handleRequest: (request: IncomingRequest) => (answers[request.method] ?? answer)(request, connection),
      handleNotification: (method: string, params: unknown) =>
        void connection.notifications.push({ method, params }),
      handleResponse: (message: unknown) => void connection.responses.push(message),
      close: () => void connection.closed++,
      onClientReturned: () => void connection.returned++,
    };
  }
}

export interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

function answer(request: IncomingRequest): void {
  if (request.method === 'initialize') {
    const protocolVersion = request.params?.['protocolVersion'];
    const serverInfo = { name: 'fake', version: '1' };
    request.sendResult(Payload.of({ protocolVersion, capabilities: { tools: {} }, serverInfo }));
  } else if (request.method === 'unknown') request.sendError({ code: -32601, message: 'No such method.' });
  else request.sendResult(Payload.of({ method: request.method }));
}

function send(url: URL, method: string, { headers = {}, body }: SendOptions): Promise<RouteResponse> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest(
      url,
      { method, headers: { ...type, ...headers }, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject).on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            messages: messagesOf(response, text),
          });
        });
      },
    );
    request.on('error', reject).end(body);
  });
}

function messagesOf(response: IncomingMessage, text: string): JsonObject[] {
  const messages: JsonObject[] = [];
  if (response.headers['content-type'] === 'text/event-stream') {
    sseReader(({ data }) => messages.push(JSON.parse(data) as JsonObject))(text);
  } else if (response.headers['content-type'] === 'application/json' && text !== '') {
    messages.push(...([JSON.parse(text)] as (JsonObject | JsonObject[])[]).flat());
  }
  return messages;
}

function openStream(url: URL, method: string, { headers = {}, body }: SendOptions): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest(
      url,
      { method, headers: { ...type, ...headers }, agent: false },
      (message) => {
        const events = new Inbox<SseEvent>();
        const comments = new Inbox<string>();
        const read = sseReader((event) => events.put(event));
        const ended = new Promise<void>((end) => message.on('close', end));
        message.on('error', () => {}); // `ended` reports it.
        message.setEncoding('utf8').on('data', (chunk: string) => {
          for (const line of chunk.split('\n')) if (line.startsWith(':')) comments.put(line);
          read(chunk);
        });
        const dispose = async (): Promise<void> => {
          request.destroy();
          await ended;
        };
        resolve({
          status: message.statusCode ?? 0,
          headers: message.headers,
          events,
          comments,
          ended,
          message,
          [Symbol.asyncDispose]: dispose,
        });
      },
    );
    request.on('error', reject).end(body);
  });
}

function recording(lines: string[]): Logger {
  const log: Logger = {
    debug: () => {},
    info: (message) => void lines.push(message),
    warn: (message) => void lines.push(message),
    error: (message) => void lines.push(message),
    with: () => log,
  };
  return log;
}
