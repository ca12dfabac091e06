import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { Pause } from '../gateway/operating/pause.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { AuditTrail } from '../observe/audit/audit-trail.ts';
import { silentLogger } from '../observe/log.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamName } from '../model/ids.ts';
import { adminClient } from './client.ts';
import type { AdminClient } from './client.ts';
import { adminRoutes } from './routes.ts';

const caller: Caller = { id: 'cli', via: 'cli', profile: 'default' };

const echo = {
  name: 'echo',
  description: 'Says the same.',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

interface Opened {
  readonly client: AdminClient;
  readonly memory: MemoryGateway;
  readonly stops: readonly string[];
}

async function opened(offers: Readonly<Record<string, Offer>>): Promise<Opened> {
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
  } as unknown as ConfigSnapshot; // Only what the routes read.
  const audit = new AuditTrail({
    recorder: () => Promise.reject(new Error('Nothing is recorded here.')),
    isOn: false,
    now: Date.now,
  });
  const nobody = (): Promise<never> => Promise.reject(new Error('Nobody signs in here.'));
  const routes = adminRoutes({
    audit,
    pause: new Pause(undefined, Date.now),
    reload: () => undefined,
    fleet: () => undefined,
    restartElsewhere: async () => {},
    signIns: { begin: nobody, at: nobody, watch: nobody, signOut: nobody, list: nobody },
    meter: { saved: () => Promise.resolve() },
    management: {
      ...{ changes: nobody, registry: nobody, platform: 'linux', isFixed: false },
      inUse: () => ({ needsRestart: [] }),
      log: () => ({ file: '', lines: [], hasMore: false, next: 0 }),
    },
    browsers: {
      ...{ signIn: nobody, signOut: nobody, link: nobody },
      isSignedIn: () => false,
    },
    keys: { hasProfile: () => false, addKey: nobody, keys: nobody, revokeKey: nobody },
    gateway: memory.gateway,
    config: () => snapshot,
    kind: 'own',
    openapi: new URL('../../schema/openapi.json', import.meta.url),
    version: '1.2.3',
    pid: 7,
    since: 5,
    url: () => undefined,
    clients: () => 2,
    stop: () => stops.push('stop'),
    log: silentLogger,
  });
  return { client: adminClient((request) => routes.fetch(request, caller)), memory, stops };
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the admin API', () => {
  test('tells what runs and what it knows', async () => {
    const { client } = await opened({ a: { tools: [echo] } });
    const status = await client.ask('GET /api/status', {});
    expect(status).toMatchObject({ version: '1.2.3', pid: 7, since: 5, clients: 2, tools: 1 });
    expect(status.servers).toMatchObject([
      { name: 'a', state: 'ready', tools: 1, enabled: true },
      { name: 'off', state: 'disabled', enabled: false },
    ]);
  });

  test('shows references and hides values', async () => {
    const transport = {
      kind: 'stdio' as const,
      command: 'server',
      args: ['--api-key', 'abc', '--token=def', '--port', '80', 'https://me:pw@host/?key=k&q=x'],
      env: { PLAIN: 'secret', REFERENCE: 'Bearer ${env:TOKEN}', MIXED: 'x${TOKEN}' },
    };
    const { client } = await opened({ a: { config: { transport } } });
    const [server] = await client.ask('GET /api/servers', {});
    expect(server?.transport).toEqual({
      kind: 'stdio',
      command: 'server',
      args: ['--api-key', '•••', '--token=•••', '--port', '80', 'https://•••@host/?key=•••&q=x'],
      env: { PLAIN: '•••', REFERENCE: 'Bearer ${env:TOKEN}', MIXED: '•••${env:TOKEN}' },
    });
  });

  test('lists and describes tools by either name', async () => {
    const { client } = await opened({ a: { tools: [echo] }, b: { tools: [{ ...echo, name: 'other' }] } });
    expect(await client.ask('GET /api/tools', { server: 'b' })).toMatchObject([
      { name: 'b__other', server: 'b', original: 'other', tier: 'read' },
    ]);
    const detail = await client.ask('GET /api/describe', { name: 'echo', server: 'a' });
    expect(detail).toMatchObject({ name: 'a__echo', definition: echo });
    expect(await client.ask('GET /api/names', { kind: 'tool', prefix: 'a_' })).toEqual(['a__echo']);
    expect(await client.ask('GET /api/names', { kind: 'server' })).toEqual(['a', 'b', 'off']);
  });

  test('finds tools by what they do', async () => {
    const { client } = await opened({ a: { tools: [echo] } });
    expect(await client.ask('GET /api/search', { q: 'say the same again' })).toMatchObject([
      { name: 'a__echo' },
    ]);
  });

  test('leaves weak matches out unless it is said how many are wanted', async () => {
    const sum = { ...echo, name: 'get_sum', description: 'Returns the sum of two numbers' };
    const weak = { ...echo, name: 'move_files', description: 'Moves a number of files to another folder' };
    const { client } = await opened({ a: { tools: [sum, weak] } });
    const names = async (asked: { limit?: number }): Promise<readonly string[]> =>
      (await client.ask('GET /api/search', { q: 'sum of two numbers', ...asked })).map(({ name }) => name);
    expect(await names({ limit: 10 })).toEqual(['a__get_sum', 'a__move_files']);
    expect(await names({})).toEqual(['a__get_sum']);
  });

  test('passes the answer of a tool on as it came, large numbers included', async () => {
    const script: Offer['script'] = (heard, self) => {
      if (heard.method === 'tools/call')
        self.say(`{"jsonrpc":"2.0","id":${heard.id},"result":{"n":12345678901234567890}}`);
      return undefined;
    };
    const { client } = await opened({ a: { tools: [echo], script } });
    const payload = await client.call({ name: 'a__echo', args: { text: 'x' } });
    expect(payload.text).toBe('{"n":12345678901234567890}');
  });

  test('tells of progress and log messages while a call runs', async () => {
    const script: Offer['script'] = (heard, self) => {
      if (heard.method !== 'tools/call') return undefined;
      const { progressToken } = (heard.params ?? {})['_meta'] as { progressToken: number };
      self.say({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      self.say({ method: 'notifications/message', params: { level: 'debug', data: 'too much' } });
      self.say({ method: 'notifications/message', params: { level: 'warning', data: 'careful' } });
      return { content: [] };
    };
    const { client } = await opened({ a: { tools: [echo], script } });
    const told: unknown[] = [];
    const payload = await client.call(
      { name: 'echo', server: 'a', args: { text: 'x' }, logLevel: 'info' },
      { onProgress: (progress) => told.push(progress), onLog: (message) => told.push(message) },
    );
    expect(payload.peek).toEqual({ content: [] });
    expect(told).toMatchObject([
      { progress: 1, total: 2 },
      { level: 'warning', data: 'careful' },
    ]);
  });

  test('cancels a call when whoever asked has gone away', async () => {
    const { client, memory } = await opened({ a: { tools: [echo] } });
    const leaving = new AbortController();
    const call = client.call({ name: 'a__echo', args: { text: 'x' } }, { signal: leaving.signal });
    await vi.waitFor(() => memory.server('a').last('tools/call'));
    leaving.abort();
    await vi.waitFor(() => memory.server('a').last('notifications/cancelled'));
    expect(await failure(call)).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  test('refuses arguments that do not fit before anything is sent', async () => {
    const { client, memory } = await opened({ a: { tools: [echo] } });
    const error = await failure(client.call({ name: 'a__echo', args: { text: 7 } }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'ARGUMENTS_INVALID' });
    expect(memory.server('a').heard.map(({ method }) => method)).not.toContain('tools/call');
  });

  test('gives errors back as they were', async () => {
    const script: Offer['script'] = (heard, self) => {
      if (heard.method === 'tools/call')
        self.say({ id: heard.id, error: { code: -32099, message: 'no', data: { why: 1 } } });
      return undefined;
    };
    const { client } = await opened({ a: { tools: [echo], script } });
    const refused = await failure(client.call({ name: 'a__echo', args: { text: 'x' } }));
    expect(refused).toBeInstanceOf(RpcError);
    expect(refused).toMatchObject({ body: { code: -32099, message: 'no', data: { why: 1 } } });
    expect(await failure(client.ask('GET /api/describe', { name: 'a__ecco' }))).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'Unknown tool: a__ecco. Did you mean "a__echo"?',
      details: { kind: 'tool', near: ['a__echo'] },
    });
    expect(await failure(client.ask('POST /api/servers/:name/refresh', { name: 'x y' }))).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'There is no server "x y".',
    });
    expect(await failure(client.ask('POST /api/servers/:name/restart', { name: 'aa' }))).toMatchObject({
      code: 'ENTRY_NOT_FOUND',
      message: 'There is no server "aa". Did you mean "a"?',
    });
  });

  test('explains names', async () => {
    const { client } = await opened({ a: { tools: [echo] } });
    expect(await client.ask('GET /api/explain', { name: 'a__echo' })).toMatchObject({
      verdict: 'usable',
      server: 'a',
    });
    expect(await client.ask('GET /api/explain', { name: 'echo' })).toMatchObject({
      verdict: 'unknown',
      near: ['a__echo'],
    });
    expect(await client.ask('GET /api/explain', { name: 'off' })).toMatchObject({ verdict: 'disabled' });
    expect(await client.ask('GET /api/explain', { name: 'a__ecko' })).toMatchObject({
      verdict: 'unknown',
      reasons: ['Server "a" is there, and lists no tool or prompt "a__ecko".'],
      near: ['a__echo'],
      fixes: [],
    });
    expect(await client.ask('GET /api/explain', { name: 'a__nope' })).toMatchObject({
      near: [],
      fixes: ['See what it offers with: trunkline tools a'],
    });
  });

  test('restarts a server with a new connection', async () => {
    const { client, memory } = await opened({ a: { tools: [echo] } });
    const before = memory.server('a');
    expect(await client.ask('POST /api/servers/:name/restart', { name: 'a' })).toMatchObject({
      state: 'ready',
      tools: 1,
    });
    expect(memory.server('a')).not.toBe(before);
  });

  test('stops after it has answered', async () => {
    const { client, stops } = await opened({});
    expect(await client.ask('POST /api/stop', {})).toEqual({ stopping: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(stops).toEqual(['stop']);
  });
});
