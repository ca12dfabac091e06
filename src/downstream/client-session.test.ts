import { afterEach, describe, expect, test, vi } from 'vitest';

import { MemoryClient } from '../../test/support/memory-client.ts';
import type { MemoryRequest } from '../../test/support/memory-client.ts';
import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import { directExposure } from '../exposure/direct-exposure.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { UpstreamName } from '../core/ids.ts';
import { silentLogger } from '../observability/log.ts';
import { LEGACY_VERSIONS, META_KEYS, MODERN_VERSION } from '../protocol/era.ts';
import { HeaderParamCache } from '../protocol/http/param-headers.ts';
import type { ClientConnection } from '../protocol/client-connection.ts';
import { ListCache } from './methods/list-cache.ts';
import { ParkedCalls } from './questions/parked-calls.ts';
import { createClientSession } from './client-session.ts';

const envelope = {
  [META_KEYS.protocolVersion]: MODERN_VERSION,
  [META_KEYS.clientInfo]: { name: 'client' },
  [META_KEYS.clientCapabilities]: {},
};

/** A client of a gateway with one server, `files`. */
class Session {
  readonly client = new MemoryClient();
  readonly memory: MemoryGateway;
  readonly connection: ClientConnection;

  constructor(memory: MemoryGateway) {
    this.memory = memory;
    this.connection = createClientSession({
      backend: memory.gateway,
      exposure: directExposure,
      caller: { id: 'local', via: 'stdio', profile: 'default' },
      channel: this.client,
      lists: new ListCache(),
      parked: new ParkedCalls({ ttlMs: 60_000 }),
      headerParams: new HeaderParamCache(),
      log: silentLogger,
      version: '1.2.3',
    });
  }

  begin(method: string, params?: JsonObject): MemoryRequest {
    const request = this.client.request(method, params);
    this.connection.handleRequest(request);
    return request;
  }

  ask(method: string, params?: JsonObject): Promise<JsonObject> {
    return this.begin(method, params).answer;
  }

  askModern(method: string, params: JsonObject = {}): Promise<JsonObject> {
    return this.ask(method, {
      ...params,
      _meta: { ...envelope, ...(params['_meta'] as object | undefined) },
    });
  }

  get heard(): readonly unknown[] {
    return this.memory
      .server('files')
      .received.flatMap(({ method, params }) =>
        method?.endsWith('/list') === true ? [] : [[method, params]],
      );
  }
}

const offer: Offer = {
  tools: [{ name: 'read', inputSchema: { type: 'object' } }],
  prompts: [{ name: 'greet' }],
  resources: [{ uri: 'file:a', name: 'A' }],
  resourceTemplates: [{ uriTemplate: 'file:{path}', name: 'F' }],
};

const open: MemoryGateway[] = [];
async function session(more: Partial<Offer> = {}): Promise<Session> {
  const memory = await MemoryGateway.start({
    files: { ...offer, script: ({ method }) => ({ did: method }), ...more },
  });
  open.push(memory);
  return new Session(memory);
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((memory) => memory[Symbol.asyncDispose]()));
});

describe('handshake', () => {
  test.each(LEGACY_VERSIONS)('initialize: accepts version %s of a legacy client', async (protocolVersion) => {
    const { result } = await (await session()).ask('initialize', { protocolVersion, capabilities: {} });
    expect(result).toMatchObject({
      protocolVersion,
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      serverInfo: { name: 'trunkline', version: '1.2.3' },
      instructions: expect.stringContaining('- files: Title of files') as string,
    });
  });

  test.each(['2099-01-01', MODERN_VERSION, ''])(
    'initialize: offers the newest legacy version for %j',
    async (wanted) => {
      const { result } = await (await session()).ask('initialize', { protocolVersion: wanted });
      expect(result).toMatchObject({ protocolVersion: '2025-11-25' });
    },
  );

  test('discover: describes the gateway to a modern client', async () => {
    const { result } = await (await session()).askModern('server/discover');
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()],
      _meta: { [META_KEYS.serverInfo]: { name: 'trunkline', version: '1.2.3' } },
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  test('handshake: rejects incomplete parameters', async () => {
    const client = await session();
    expect(await client.ask('initialize', {})).toMatchObject({ error: { code: -32602 } });
    expect(await client.ask('server/discover')).toMatchObject({ error: { code: -32602 } });
    const _meta = { [META_KEYS.protocolVersion]: MODERN_VERSION };
    expect(await client.ask('tools/list', { _meta })).toMatchObject({ error: { code: -32602 } });
  });

  test('handshake: rejects an unknown modern version and lists the supported ones', async () => {
    const answer = await (
      await session()
    ).askModern('tools/list', { _meta: { [META_KEYS.protocolVersion]: '2099-01-01' } });
    expect(answer).toMatchObject({
      error: {
        code: -32022,
        data: { requested: '2099-01-01', supported: expect.arrayContaining([MODERN_VERSION]) as string[] },
      },
    });
  });
});

describe('methods per era', () => {
  test.each(['ping', 'resources/subscribe', 'initialize'])(
    'methods: do not include %s for modern clients',
    async (method) => {
      expect(await (await session()).askModern(method, { uri: 'file:a' })).toMatchObject({
        error: { code: -32601 },
      });
    },
  );

  test.each(['subscriptions/listen', 'toString', '__proto__', 'tools/unheard-of', ''])(
    'methods: do not include %j for legacy clients',
    async (method) => {
      expect(await (await session()).ask(method)).toMatchObject({ error: { code: -32601 } });
    },
  );

  test('ping: is answered for a legacy client', async () => {
    expect(await (await session()).ask('ping')).toEqual({ result: {} });
  });
});

describe('list requests', () => {
  test("list request: is answered in the format of the client's era", async () => {
    const client = await session();
    const tools = [{ name: 'files__read', inputSchema: { type: 'object' } }];
    expect(await client.ask('tools/list')).toEqual({ result: { tools } });
    expect(await client.askModern('tools/list')).toEqual({
      result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools },
    });
    expect(await client.ask('prompts/list')).toEqual({ result: { prompts: [{ name: 'files__greet' }] } });
    expect(await client.ask('resources/list')).toEqual({
      result: { resources: [{ uri: 'file:a', name: 'A' }] },
    });
  });

  test('list request: is answered for every kind of entry', async () => {
    const client = await session();
    const kinds = {
      'tools/list': 'tools',
      'prompts/list': 'prompts',
      'resources/list': 'resources',
      'resources/templates/list': 'resourceTemplates',
    };
    for (const [method, key] of Object.entries(kinds))
      expect(await client.ask(method)).toEqual({ result: { [key]: [expect.anything()] } });
  });

  test('list request: rejects a cursor because lists have one page', async () => {
    expect(await (await session()).ask('tools/list', { cursor: 'x' })).toMatchObject({
      error: { code: -32602 },
    });
  });
});

describe('calls', () => {
  test('call: reaches the server under its own names, without hop-specific metadata', async () => {
    const client = await session();
    const _meta = { progressToken: 'p', traceparent: 't' };
    expect(await client.ask('tools/call', { name: 'files__read', arguments: { a: 1 }, _meta })).toEqual({
      result: { did: 'tools/call' },
    });
    await client.askModern('tools/call', { name: 'files__read', extra: 1 });
    await client.ask('prompts/get', { name: 'files__greet' });
    await client.ask('resources/read', { uri: 'file:b' });
    await client.ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'files__greet' },
      argument: { name: 'x', value: '' },
    });
    expect(client.heard).toEqual([
      [
        'tools/call',
        {
          name: 'read',
          arguments: { a: 1 },
          _meta: { traceparent: 't', progressToken: expect.any(Number) as number },
        },
      ],
      ['tools/call', { name: 'read', extra: 1 }],
      ['prompts/get', { name: 'greet' }],
      ['resources/read', { uri: 'file:b' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'x', value: '' } },
      ],
    ]);
  });

  test('call: is answered to a modern client in its format', async () => {
    const client = await session();
    expect(await client.askModern('tools/call', { name: 'files__read' })).toEqual({
      result: { resultType: 'complete', did: 'tools/call' },
    });
    expect(await client.askModern('resources/read', { uri: 'file:a' })).toMatchObject({
      result: { ttlMs: 0, cacheScope: 'private' },
    });
  });

  test("call: reports progress with the client's token", async () => {
    const client = await session({
      script: (heard, server) => {
        server.send({
          method: 'notifications/progress',
          params: { progressToken: heard.id, progress: 1, total: 2 },
        });
        return {};
      },
    });
    const request = client.begin('tools/call', { name: 'files__read', _meta: { progressToken: 'mine' } });
    await request.answer;
    expect(request.notifications).toEqual([
      ['notifications/progress', { progressToken: 'mine', progress: 1, total: 2 }],
    ]);
  });

  test('call: passes on an upstream error unchanged', async () => {
    const error = { code: -32000, message: 'no', data: [1] };
    const client = await session({ script: () => ({ error }) });
    expect(await client.ask('tools/call', { name: 'files__read' })).toEqual({ error });
  });

  test('call: reports a crashed server to the model as a tool error', async () => {
    const client = await session({
      script: ({ method, params }, server) => {
        if (params?.['crash'] !== true) return { did: method };
        queueMicrotask(() => server.crash());
        return undefined;
      },
    });
    // A server that has responded before is restarted without a delay.
    await client.ask('tools/call', { name: 'files__read' });
    expect(await client.ask('tools/call', { name: 'files__read', crash: true })).toMatchObject({
      result: { isError: true, _meta: { 'trunkline/code': 'UPSTREAM_CLOSED' } },
    });
    await client.ask('tools/call', { name: 'files__read' });
    expect(await client.ask('prompts/get', { name: 'files__greet', crash: true })).toMatchObject({
      error: { data: { code: 'UPSTREAM_CLOSED' } },
    });
  });

  test('call: rejects an unknown name and suggests a similar one', async () => {
    const client = await session();
    expect(await client.ask('tools/call', { name: 'files__raed' })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('"files__read"') as string },
    });
    expect(await client.ask('prompts/get', { name: 'x' })).toMatchObject({ error: { code: -32602 } });
    expect(await client.ask('resources/read', { uri: 'http://x' })).toMatchObject({
      error: { code: -32002, data: { uri: 'http://x' } },
    });
    expect(await client.askModern('resources/read', { uri: 'http://x' })).toMatchObject({
      error: { code: -32602 },
    });
    expect(client.heard).toEqual([]);
  });

  test.each([
    ['tools/call', { name: 5 }],
    ['prompts/get', {}],
    ['resources/read', { uri: null }],
    ['completion/complete', { ref: 'x' }],
    ['completion/complete', { ref: { type: 'ref/unheard-of' } }],
    ['resources/subscribe', {}],
    ['resources/unsubscribe', {}],
  ])('call: rejects incomplete parameters: %s with %j', async (method, params) => {
    expect(await (await session()).ask(method, params)).toMatchObject({ error: { code: -32602 } });
  });

  test('call: is cancelled upstream when the client cancels', async () => {
    const client = await session({ script: () => undefined });
    const request = client.begin('tools/call', { name: 'files__read' });
    await vi.waitFor(() => expect(client.heard).toHaveLength(1));
    request.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
    expect(client.heard.at(-1)).toMatchObject(['notifications/cancelled', { reason: 'enough' }]);
    expect(await request.answer).toMatchObject({ error: { data: { code: 'CALL_CANCELLED' } } });
  });

  test('call: ends after the timeout that the client sets', async () => {
    const client = await session({ script: () => undefined });
    expect(
      await client.ask('tools/call', { name: 'files__read', _meta: { 'trunkline/timeoutMs': 1 } }),
    ).toMatchObject({
      result: { isError: true, _meta: { 'trunkline/code': 'CALL_TIMEOUT' } },
    });
  });
});

describe('notifications to a legacy client', () => {
  test('resource subscription: notifies a legacy client on its channel', async () => {
    const client = await session();
    expect(await client.ask('resources/subscribe', { uri: 'file:a' })).toEqual({ result: {} });
    client.memory
      .server('files')
      .send({ method: 'notifications/resources/updated', params: { uri: 'file:a' } });
    expect(client.client.notifications).toEqual([['notifications/resources/updated', { uri: 'file:a' }]]);
    expect(await client.ask('resources/unsubscribe', { uri: 'file:a' })).toEqual({ result: {} });
  });

  test('list changes: are announced to a legacy client from its first list until it leaves', async () => {
    const client = await session();
    const denying = (...kinds: ('tool' | 'resource')[]) =>
      client.memory.change(
        { files: offer },
        { policy: { default: 'allow', rules: [{ id: 'no', effect: 'deny', who: {}, what: { kinds } }] } },
      );
    const changed = { tools: true, prompts: true, resources: true };
    client.memory.gateway.events.emit('changed', changed);
    expect(client.client.notifications).toEqual([]);
    await client.ask('initialize', { protocolVersion: '2025-11-25' });
    await denying('resource');
    await vi.waitFor(async () =>
      expect(await client.ask('resources/list')).toMatchObject({ result: { resources: [] } }),
    );
    expect(client.client.notifications).toEqual([]);
    await client.ask('tools/list');
    // A change that only others see is not announced.
    client.memory.gateway.events.emit('changed', changed);
    expect(client.client.notifications).toEqual([]);
    await denying('tool');
    await vi.waitFor(() =>
      expect(client.client.notifications).toEqual([
        ['notifications/tools/list_changed', undefined],
        ['notifications/resources/list_changed', undefined],
      ]),
    );
    client.connection.close();
    await denying('tool');
    client.memory.gateway.events.emit('changed', changed);
    expect(client.client.notifications).toHaveLength(2);
  });
});

describe('servers with share "session"', () => {
  test('session server: ends with its session', async () => {
    const memory = await MemoryGateway.start({
      files: {
        ...offer,
        script: ({ method }) => ({ did: method }),
        config: { name: 'files' as UpstreamName, share: 'session' },
      },
    });
    open.push(memory);
    const listed = memory.server('files');
    const client = new Session(memory);
    await client.ask('tools/call', { name: 'files__read' });
    const own = memory.server('files');
    expect(own).not.toBe(listed);
    client.connection.close();
    await vi.waitFor(() => expect(own.closes).toBe(1));
    expect(listed.closes).toBe(0);
  });
});
