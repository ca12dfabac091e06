import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { PauseState } from '../gateway/control/pause-state.ts';
import type { Caller } from '../core/caller.ts';
import type { ConnectedClient } from '../core/connected-client.ts';
import type { ReplicaBus } from '../core/replica-bus.ts';
import { GatewayError, RpcError } from '../core/errors.ts';
import { AuditTrail } from '../observability/audit/audit-trail.ts';
import { silentLogger } from '../observability/log.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamName } from '../core/ids.ts';
import { createAdminClient } from './admin-client.ts';
import type { AdminClient } from './admin-client.ts';
import { createAdminRoutes } from './admin-routes.ts';

const caller: Caller = { id: 'cli', via: 'cli', profile: 'default' };

const echo = {
  name: 'echo',
  description: 'Says the same.',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

interface TestApi {
  readonly client: AdminClient;
  readonly memory: MemoryGateway;
  readonly stops: readonly string[];
}

/** The part of `AdminDeps` that tests replace. */
type Replaced = Pick<Parameters<typeof createAdminRoutes>[0], 'replicas' | 'connectedClients'>;

async function createApi(
  offers: Readonly<Record<string, Offer>>,
  { replicas, connectedClients = { revision: 0, list: () => [] } }: Partial<Replaced> = {},
): Promise<TestApi> {
  const memory = await MemoryGateway.start(offers);
  onTestFinished(() => memory[Symbol.asyncDispose]());
  const stops: string[] = [];
  const upstreams = Object.entries(offers).map(([name, { config }]) =>
    upstreamConfig({
      name: name as UpstreamName,
      tools: { allow: ['*'], deny: [], tiers: {} },
      ...config,
    }),
  );
  const snapshot = {
    file: '/config.jsonc',
    value: { upstreams, names: { separator: '__' }, audit: { enabled: false } },
    disabled: ['off'],
    warnings: [],
  } as unknown as ConfigSnapshot; // It has only the members that the routes read.
  const audit = new AuditTrail({
    loadQueue: () => Promise.reject(new Error('The audit log is off.')),
    isEnabled: false,
    now: Date.now,
  });
  const notUsed = (): Promise<never> => Promise.reject(new Error('The test does not use this.'));
  const routes = createAdminRoutes({
    audit,
    pause: new PauseState(undefined, Date.now),
    reload: () => undefined,
    fleet: () => undefined,
    restartOnOwner: async () => {},
    secrets: { write: notUsed, list: notUsed, remove: notUsed },
    signIns: { start: notUsed, find: notUsed, watch: notUsed, signOut: notUsed, list: notUsed },
    meter: { flush: () => Promise.resolve() },
    management: {
      editor: notUsed,
      registry: notUsed,
      platform: 'linux',
      isFixed: false,
      configStatus: () => ({ needsRestart: [] }),
      log: () => ({ file: '', lines: [], hasMore: false, next: 0 }),
    },
    browsers: {
      signIn: notUsed,
      signOut: notUsed,
      createLink: notUsed,
      isSignedIn: () => false,
    },
    keys: { hasProfile: () => false, addKey: notUsed, keys: notUsed, revokeKey: notUsed },
    gateway: memory.gateway,
    config: () => snapshot,
    kind: 'own',
    openapi: new URL('../../schema/openapi.json', import.meta.url),
    version: '1.2.3',
    pid: 7,
    since: 5,
    url: () => undefined,
    clients: () => 2,
    connectedClients,
    differingVariables: () => [],
    replicas,
    stop: () => stops.push('stop'),
    log: silentLogger,
  });
  return { client: createAdminClient((request) => routes.fetch(request, caller)), memory, stops };
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function connectedClient(id: string, usedAt: number): ConnectedClient {
  return {
    id,
    name: 'editor',
    protocol: '2025-11-25',
    transport: 'http',
    caller: 'key:ada',
    profile: 'default',
    exposure: 'search',
    hasSession: true,
    since: 1,
    usedAt,
    calls: 3,
  };
}

describe('admin API', () => {
  test('clients: lists those of every replica, and names the replicas that do not respond', async () => {
    const replicas: ReplicaBus = {
      self: 'one',
      others: () => ['two', 'gone'],
      request: (replica) =>
        replica === 'two'
          ? Promise.resolve({ clients: [connectedClient('b', 20)] })
          : Promise.reject(new GatewayError('REPLICA_AWAY', 'It has stopped.')),
      onRequest: () => ({ [Symbol.dispose]: () => {} }),
    };
    const list = (): readonly ConnectedClient[] => [connectedClient('a', 10), connectedClient('c', 30)];
    const { client } = await createApi({}, { replicas, connectedClients: { revision: 0, list } });
    const all = await client.request('GET /api/clients', {});
    expect(all.clients.map(({ id, replica }) => [id, replica])).toEqual([
      ['c', 'one'],
      ['b', 'two'],
      ['a', 'one'],
    ]);
    expect(all).toMatchObject({ total: 3, missing: ['gone'] });
    const first = await client.request('GET /api/clients', { limit: 1 });
    expect(first).toMatchObject({ total: 3, clients: [{ id: 'c' }] });
    expect(await failure(client.request('GET /api/clients', { limit: 0 }))).toMatchObject({ code: 'USAGE' });
  });

  test('status: reports the process, its clients and the state of every server', async () => {
    const { client } = await createApi({ a: { tools: [echo] } });
    const status = await client.request('GET /api/status', {});
    expect(status).toMatchObject({ version: '1.2.3', pid: 7, since: 5, clients: 2, tools: 1 });
    expect(status.servers).toMatchObject([
      { name: 'a', state: 'ready', tools: 1, enabled: true },
      { name: 'off', state: 'disabled', enabled: false },
    ]);
  });

  test('server list: shows references and masks literal secrets', async () => {
    const transport = {
      kind: 'stdio' as const,
      command: 'server',
      args: ['--api-key', 'abc', '--token=def', '--port', '80', 'https://me:pw@host/?key=k&q=x'],
      env: { PLAIN: 'secret', REFERENCE: 'Bearer ${env:TOKEN}', MIXED: 'x${TOKEN}' },
    };
    const { client } = await createApi({ a: { config: { transport } } });
    const [server] = await client.request('GET /api/servers', {});
    expect(server?.transport).toEqual({
      kind: 'stdio',
      command: 'server',
      args: ['--api-key', '•••', '--token=•••', '--port', '80', 'https://•••@host/?key=•••&q=x'],
      env: { PLAIN: '•••', REFERENCE: 'Bearer ${env:TOKEN}', MIXED: '•••${env:TOKEN}' },
    });
  });

  test('tools: lists and describes tools by exposed or original name', async () => {
    const { client } = await createApi({ a: { tools: [echo] }, b: { tools: [{ ...echo, name: 'other' }] } });
    expect(await client.request('GET /api/tools', { server: 'b' })).toMatchObject([
      { name: 'b__other', server: 'b', original: 'other', tier: 'read' },
    ]);
    const detail = await client.request('GET /api/describe', { name: 'echo', server: 'a' });
    expect(detail).toMatchObject({ name: 'a__echo', definition: echo });
    expect(await client.request('GET /api/names', { kind: 'tool', prefix: 'a_' })).toEqual(['a__echo']);
    expect(await client.request('GET /api/names', { kind: 'server' })).toEqual(['a', 'b', 'off']);
  });

  test('search: finds tools by what they do', async () => {
    const { client } = await createApi({ a: { tools: [echo] } });
    expect(await client.request('GET /api/search', { q: 'say the same again' })).toMatchObject([
      { name: 'a__echo' },
    ]);
  });

  test('search: omits weak matches unless a limit is given', async () => {
    const sum = { ...echo, name: 'get_sum', description: 'Returns the sum of two numbers' };
    const weak = { ...echo, name: 'move_files', description: 'Moves a number of files to another folder' };
    const { client } = await createApi({ a: { tools: [sum, weak] } });
    const search = async (options: { limit?: number }): Promise<readonly string[]> =>
      (await client.request('GET /api/search', { q: 'sum of two numbers', ...options })).map(
        ({ name }) => name,
      );
    expect(await search({ limit: 10 })).toEqual(['a__get_sum', 'a__move_files']);
    expect(await search({})).toEqual(['a__get_sum']);
  });

  test('call: returns the result of a tool unchanged, including large integers', async () => {
    const script: Offer['script'] = (heard, self) => {
      if (heard.method === 'tools/call')
        self.send(`{"jsonrpc":"2.0","id":${heard.id},"result":{"n":12345678901234567890}}`);
      return undefined;
    };
    const { client } = await createApi({ a: { tools: [echo], script } });
    const payload = await client.callTool({ name: 'a__echo', args: { text: 'x' } });
    expect(payload.text).toBe('{"n":12345678901234567890}');
  });

  test('call: streams progress and log messages at or above the requested level', async () => {
    const script: Offer['script'] = (heard, self) => {
      if (heard.method !== 'tools/call') return undefined;
      const { progressToken } = (heard.params ?? {})['_meta'] as { progressToken: number };
      self.send({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      self.send({ method: 'notifications/message', params: { level: 'debug', data: 'too much' } });
      self.send({ method: 'notifications/message', params: { level: 'warning', data: 'careful' } });
      return { content: [] };
    };
    const { client } = await createApi({ a: { tools: [echo], script } });
    const notifications: unknown[] = [];
    const payload = await client.callTool(
      { name: 'echo', server: 'a', args: { text: 'x' }, logLevel: 'info' },
      {
        onProgress: (progress) => notifications.push(progress),
        onLog: (message) => notifications.push(message),
      },
    );
    expect(payload.peek).toEqual({ content: [] });
    expect(notifications).toMatchObject([
      { progress: 1, total: 2 },
      { level: 'warning', data: 'careful' },
    ]);
  });

  test('call: cancels the upstream request when the client disconnects', async () => {
    const { client, memory } = await createApi({ a: { tools: [echo] } });
    const disconnect = new AbortController();
    const call = client.callTool({ name: 'a__echo', args: { text: 'x' } }, { signal: disconnect.signal });
    await vi.waitFor(() => memory.server('a').last('tools/call'));
    disconnect.abort();
    await vi.waitFor(() => memory.server('a').last('notifications/cancelled'));
    expect(await failure(call)).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  test('call: rejects arguments that do not match the input schema before sending anything', async () => {
    const { client, memory } = await createApi({ a: { tools: [echo] } });
    const error = await failure(client.callTool({ name: 'a__echo', args: { text: 7 } }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'ARGUMENTS_INVALID' });
    expect(memory.server('a').received.map(({ method }) => method)).not.toContain('tools/call');
  });

  test('errors: returns upstream and gateway errors unchanged, with suggestions for unknown names', async () => {
    const script: Offer['script'] = (heard, self) => {
      if (heard.method === 'tools/call')
        self.send({ id: heard.id, error: { code: -32099, message: 'no', data: { why: 1 } } });
      return undefined;
    };
    const { client } = await createApi({ a: { tools: [echo], script } });
    const refused = await failure(client.callTool({ name: 'a__echo', args: { text: 'x' } }));
    expect(refused).toBeInstanceOf(RpcError);
    expect(refused).toMatchObject({ body: { code: -32099, message: 'no', data: { why: 1 } } });
    expect(await failure(client.request('GET /api/describe', { name: 'a__ecco' }))).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'Unknown tool: a__ecco. Did you mean "a__echo"?',
      details: { kind: 'tool', near: ['a__echo'] },
    });
    expect(await failure(client.request('POST /api/servers/:name/refresh', { name: 'x y' }))).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'There is no server "x y".',
    });
    expect(await failure(client.request('POST /api/servers/:name/restart', { name: 'aa' }))).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'There is no server "aa". Did you mean "a"?',
    });
  });

  test('explain: says that a name contradicts a read-only annotation, and how to override the tier', async () => {
    const { client } = await createApi({ a: { tools: [{ ...echo, name: 'delete_all_repositories' }] } });
    const { reasons } = await client.request('GET /api/explain', { name: 'a__delete_all_repositories' });
    expect(reasons).toContain(
      'Its tier is destructive because its name contains the verb "delete", although the server declares it read-only. If the server is right, set "delete_all_repositories" to "read" in mcpServers.a.tools.tiers.',
    );
  });

  test('explain: says whether a name is usable, unknown or disabled and suggests similar names', async () => {
    const { client } = await createApi({ a: { tools: [echo] } });
    expect(await client.request('GET /api/explain', { name: 'a__echo' })).toMatchObject({
      verdict: 'usable',
      server: 'a',
    });
    expect(await client.request('GET /api/explain', { name: 'echo' })).toMatchObject({
      name: 'a__echo',
      verdict: 'usable',
    });
    expect(await client.request('GET /api/explain', { name: 'off' })).toMatchObject({ verdict: 'disabled' });
    expect(await client.request('GET /api/explain', { name: 'a__ecko' })).toMatchObject({
      verdict: 'unknown',
      reasons: ['Server "a" does not list a tool or prompt "a__ecko".'],
      near: ['a__echo'],
      fixes: [],
    });
    expect(await client.request('GET /api/explain', { name: 'a__nope' })).toMatchObject({
      near: [],
      fixes: ['List its tools with: trunkline tools a'],
    });
  });

  test('restart: reconnects the server', async () => {
    const { client, memory } = await createApi({ a: { tools: [echo] } });
    const before = memory.server('a');
    expect(await client.request('POST /api/servers/:name/restart', { name: 'a' })).toMatchObject({
      state: 'ready',
      tools: 1,
    });
    expect(memory.server('a')).not.toBe(before);
  });

  test('stop: stops the gateway after sending the response', async () => {
    const { client, stops } = await createApi({});
    expect(await client.request('POST /api/stop', {})).toEqual({ stopping: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(stops).toEqual(['stop']);
  });
});
