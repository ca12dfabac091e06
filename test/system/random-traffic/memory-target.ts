import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import { createMcpRoutes } from '../../../src/downstream/http/mcp-routes.ts';
import { listen } from '../../../src/downstream/http/listen.ts';
import { ListCache } from '../../../src/downstream/methods/list-cache.ts';
import { ParkedCalls } from '../../../src/downstream/questions/parked-calls.ts';
import { createClientSession } from '../../../src/downstream/client-session.ts';
import { directExposure } from '../../../src/exposure/direct-exposure.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { HeaderParamCache } from '../../../src/protocol/http/param-headers.ts';
import { StdioServerTransport } from '../../../src/protocol/stdio/stdio-server-transport.ts';
import type { ClientChannel, ClientConnection } from '../../../src/protocol/client-connection.ts';
import { MemoryGateway } from '../../support/memory-gateway.ts';
import type { Offer } from '../../support/memory-gateway.ts';
import type { ReceivedMessage, MemoryServer } from '../../support/memory-server.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { HttpSender } from './http-sender.ts';
import { SERVERS } from './traffic.ts';
import type { ClientKind } from './traffic.ts';
import type { ReceivedCall, TrafficTarget } from './traffic-target.ts';

const KINDS: readonly ClientKind[] = [
  'stdio',
  'stdio-batching',
  'http',
  'http-batching',
  'sse',
  'http-modern',
];
const VERSIONS: Readonly<Record<string, string>> = {
  'stdio-batching': '2025-03-26',
  'http-batching': '2025-03-26',
};

/** Opens the whole gateway and its transports in this process, with in-memory servers behind real peers. */
export async function openMemoryTarget(): Promise<TrafficTarget> {
  const memory = await MemoryGateway.start({ one: offer('legacy'), two: offer('modern') });
  const lists = new ListCache();
  const parked = new ParkedCalls({ ttlMs: 60_000 });
  const connect = (channel: ClientChannel, id: string): ClientConnection =>
    createClientSession({
      backend: memory.gateway,
      exposure: directExposure,
      caller: {
        id,
        via: 'http',
        profile: 'default',
      },
      channel,
      lists,
      parked,
      log: silentLogger,
      version: '1',
      headerParams: new HeaderParamCache(),
    });
  const routes = createMcpRoutes({
    connect: ({ channel }) => connect(channel, 'http'),
    allowedHosts: [],
    allowedOrigins: [],
    maxSessions: 100,
    sessionIdleMs: 60_000,
    maxBodyBytes: 1024 * 1024,
    isReady: () => true,
    log: silentLogger,
  });
  const listener = await listen({ address: '127.0.0.1:0', routes, log: silentLogger });
  const url = new URL('/mcp', listener.url).href;
  const pipes = new Map(
    KINDS.flatMap((kind, at) =>
      kind.startsWith('stdio') ? [[at, pipe((channel) => connect(channel, `pipe ${at}`))] as const] : [],
    ),
  );
  const http = new HttpSender(url, KINDS);
  for (const [at, kind] of KINDS.entries()) {
    const version = VERSIONS[kind] ?? '2025-11-25';
    if (pipes.has(at)) await pipes.get(at)?.initialize(version);
    else await http.open(at, version);
  }
  return {
    kinds: KINDS,
    send: (number, sent) => pipes.get(sent.client)?.send(sent.text) ?? http.send(number, sent),
    hangUp: (number) => http.hangUp(number),
    received: (client) => pipes.get(client)?.received ?? http.received(client),
    heard: () => SERVERS.flatMap((name) => heardBy(name, memory.server(name))),
    async [Symbol.asyncDispose]() {
      http.close();
      for (const one of pipes.values()) one.close();
      await routes[Symbol.asyncDispose]();
      await listener.close();
      await memory[Symbol.asyncDispose]();
    },
  };
}

function pipe(connect: (channel: ClientChannel) => ClientConnection) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const received: string[] = [];
  let rest = '';
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    received.push(...lines);
  });
  const stdio = new StdioServerTransport({
    stdin,
    stdout,
    connect,
    maxMessageBytes: 1024 * 1024,
    onEnd: () => {},
  });
  return {
    received,
    /** `true` means that the text was sent here and not over HTTP. */
    send: (text: string): true => {
      stdin.write(`${text}\n`);
      return true;
    },
    async initialize(protocolVersion: string): Promise<void> {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'open', method: 'initialize', params })}\n`);
      while (received.length === 0) await once(stdout, 'data');
      received.length = 0;
    },
    close: () => stdio.close(),
  };
}

const schema = { type: 'object' };

/** Answers like the test server `plain`, which gets the same traffic in the runs with real processes. */
function offer(era: 'legacy' | 'modern'): Offer {
  return {
    era,
    config: { passedMeta: ['example.com/*'] },
    tools: ['echo', 'progress', 'slow', 'fail', 'rpc-error'].map((name) => ({ name, inputSchema: schema })),
    prompts: [{ name: 'greet' }],
    resourceTemplates: [{ uriTemplate: 'fixture://item/{id}', name: 'item' }],
    script: (heard, server) => {
      const result = answerTo(heard, server);
      return result === undefined || 'error' in result || era === 'legacy'
        ? result
        : { resultType: 'complete', ...result };
    },
  };
}

function answerTo(heard: ReceivedMessage, server: MemoryServer): JsonObject | undefined {
  const { method, params = {} } = heard;
  const args = (params['arguments'] ?? {}) as JsonObject;
  const text = (said: string): JsonObject => ({ content: [{ type: 'text', text: said }] });
  switch (method) {
    case 'tools/call':
      if (params['name'] === 'echo') return text(String(args['text']));
      if (params['name'] === 'progress') {
        report(Number(args['steps']), params, server);
        return text(`${Number(args['steps'])} steps`);
      }
      if (params['name'] === 'fail') return { ...text('The tool failed.'), isError: true };
      return params['name'] === 'slow'
        ? undefined
        : { error: { code: -32050, message: 'The server failed.' } };
    case 'prompts/get':
      return {
        messages: [{ role: 'user', content: { type: 'text', text: `Hello ${String(args['name'])}!` } }, {}],
      };
    case 'resources/read': {
      const uri = String(params['uri']);
      return { contents: [{ uri, text: JSON.stringify({ id: uri.split('/').at(-1) }) }] };
    }
    case 'completion/complete':
      return { completion: { values: [] } };
    case 'subscriptions/listen':
      return undefined;
    default:
      return {};
  }
}

function report(steps: number, params: JsonObject, server: MemoryServer): void {
  const { progressToken } = (params['_meta'] ?? {}) as JsonObject;
  if (progressToken === undefined) return;
  // Asynchronously, like every real transport.
  queueMicrotask(() => {
    for (let progress = 1; progress <= steps; progress++)
      server.send({ method: 'notifications/progress', params: { progressToken, progress, total: steps } });
  });
}

function heardBy(name: ReceivedCall['server'], server: MemoryServer): readonly ReceivedCall[] {
  const cancelled = new Set(
    server.received
      .filter(({ method }) => method === 'notifications/cancelled')
      .map(({ params }) => params?.['requestId']),
  );
  return server.received.flatMap(({ id, method, params = {} }) => {
    const call = callOf(method, params);
    if (call === undefined) return [];
    return [
      { server: name, ...call, isCancelled: cancelled.has(id), meta: (params['_meta'] ?? {}) as JsonObject },
    ];
  });
}

function callOf(
  method: string | undefined,
  params: JsonObject,
): Pick<ReceivedCall, 'kind' | 'tag'> | undefined {
  const args = (params['arguments'] ?? {}) as JsonObject;
  switch (method) {
    case 'tools/call':
      return { kind: params['name'] as ReceivedCall['kind'], tag: String(args['text'] ?? args['tag']) };
    case 'prompts/get':
      return { kind: 'prompt', tag: String(args['name']) };
    case 'resources/read':
      return { kind: 'read', tag: String(params['uri']).split('/').at(-1) ?? '' };
    case 'completion/complete':
      return { kind: 'complete', tag: String((params['argument'] as JsonObject)['value']) };
    default:
      return undefined;
  }
}
