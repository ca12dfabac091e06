import { describe, expect, test } from 'vitest';

import { MemoryServer } from '../../test/support/memory-server.ts';
import type { MemoryServerScript } from '../../test/support/memory-server.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamAuth, UpstreamConfig } from '../config/config.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import type { Caller } from '../core/caller.ts';
import type { UpstreamName } from '../core/ids.ts';
import { silentLogger } from '../observability/log.ts';
import { RpcClient } from '../protocol/rpc-client.ts';
import { pickSessionToEvict, UpstreamPool } from './upstream-pool.ts';
import type { Upstream } from './upstream.ts';
import type { UpstreamState } from './upstream-state.ts';

const shared = 'shared' as UpstreamName;
const own = 'own' as UpstreamName;

class Fixture {
  readonly servers: MemoryServer[] = [];
  readonly pool: UpstreamPool;
  readonly events: string[] = [];

  constructor(script: MemoryServerScript = ({ method }) => ({ did: method ?? '' })) {
    this.pool = new UpstreamPool({
      open: async (_, { handlers }) => {
        const server = new MemoryServer(script);
        this.servers.push(server);
        const facts = { era: 'legacy', protocol: 'x', info: {}, capabilities: {} } as const;
        return {
          client: await RpcClient.open(server.open, handlers),
          facts,
          processHints: () => Promise.resolve({ stderr: [] }),
        };
      },
      identity: { info: {}, capabilities: {} },
      eras: { recall: () => undefined, remember: () => {} },
      log: silentLogger,
      now: Date.now,
    });
    for (const config of configs) this.pool.add(config);
    this.pool.events.on('state', ({ name, state }) => this.events.push(`${name} ${state.kind}`));
    this.pool.events.on('listChanged', ({ name }) => this.events.push(`${name} list changed`));
    this.pool.events.on('update', ({ name, params }) => this.events.push(`${name} ${String(params['uri'])}`));
  }

  of(name: UpstreamName, session: string): Upstream {
    return this.pool.forSession(name, session)!;
  }
}

const configs: readonly UpstreamConfig[] = [
  upstreamConfig({ name: shared, share: 'all' }),
  upstreamConfig({ name: own, share: 'session' }),
];

function boundFixture(script?: MemoryServerScript) {
  const fixture = new Fixture(script);
  const { pool, servers } = fixture;
  return { pool, servers, of: (name: UpstreamName, session: string) => fixture.of(name, session) };
}

async function use(upstream: Upstream): Promise<void> {
  await upstream.request('x', {}, { cancellation: new Cancellation() });
}

describe('pool after a configuration change', () => {
  test('config change: closes the session connections of a removed server', async () => {
    const { pool, servers, of } = boundFixture();
    await Promise.all([use(of(shared, 's1')), use(of(own, 's1')), use(of(own, 's2'))]);
    expect(servers).toHaveLength(3);
    pool.apply([upstreamConfig({ name: shared, share: 'all' })], { reopened: [], graceMs: 1000 });
    expect([pool.names(), pool.forSession(own, 's1')]).toEqual([[shared], undefined]);
    await expect.poll(() => servers.filter(({ closes }) => closes > 0)).toHaveLength(2);
    await pool[Symbol.asyncDispose]();
  });

  test('config change: gives a session a new connection when its server is reopened', async () => {
    const { pool, servers, of } = boundFixture();
    const before = of(own, 's1');
    await use(before);
    pool.apply(configs, { reopened: [own], graceMs: 1000 });
    expect(of(own, 's1')).not.toBe(before);
    await use(of(own, 's1'));
    expect(servers.map(({ closes }) => closes > 0)).toEqual([true, false]);
    await pool[Symbol.asyncDispose]();
  });

  test('config change: keeps the other connections and updates their settings', async () => {
    const { pool, servers, of } = boundFixture();
    const before = of(shared, 's1');
    await use(before);
    pool.apply([upstreamConfig({ name: shared, description: 'new' })], { reopened: [], graceMs: 1000 });
    expect([of(shared, 's1'), before.config.description, servers.length]).toEqual([before, 'new', 1]);
    await pool[Symbol.asyncDispose]();
  });

  test('shutdown: closes connections that still finish requests of removed servers', async () => {
    const { pool, servers, of } = boundFixture(() => undefined);
    const call = use(of(shared, 's1')).catch((error: unknown) => error);
    await expect.poll(() => servers.length).toBe(1);
    pool.apply([], { reopened: [], graceMs: 60_000 });
    expect(servers[0]?.closes).toBe(0);
    await pool[Symbol.asyncDispose]();
    expect([servers[0]?.closes, await call]).toEqual([1, expect.any(Error)]);
  });
});

describe('pool', () => {
  test('pool: finds upstreams by name', () => {
    const { pool } = new Fixture();
    expect(pool.names()).toEqual([shared, own]);
    expect(pool.get(own)?.config.share).toBe('session');
    expect(pool.get('other' as UpstreamName)).toBeUndefined();
    expect(pool.forSession('other' as UpstreamName, 'a')).toBeUndefined();
  });

  test('pool: shares one upstream among all sessions with share all', () => {
    const fixture = new Fixture();
    expect(fixture.of(shared, 'a')).toBe(fixture.of(shared, 'b'));
    expect(fixture.of(shared, 'a')).toBe(fixture.pool.get(shared));
  });

  test('pool: opens one upstream per session with share session', async () => {
    const fixture = new Fixture();
    const [a, b] = [fixture.of(own, 'a'), fixture.of(own, 'b')];
    expect(a).not.toBe(b);
    expect(a).not.toBe(fixture.pool.get(own));
    expect(fixture.of(own, 'a')).toBe(a);
    await Promise.all([use(a), use(b), use(a)]);
    expect(fixture.servers.map(({ methods }) => methods.length)).toEqual([2, 1]);
  });

  test('session end: closes only the connections of that session', async () => {
    const fixture = new Fixture();
    const [a, b] = [fixture.of(own, 'a'), fixture.of(own, 'b')];
    await use(a);
    await use(b);
    await use(fixture.of(shared, 'a'));
    await fixture.pool.endSession('a');
    await fixture.pool.endSession('nobody');
    expect(fixture.servers.map(({ closes }) => closes)).toEqual([1, 0, 0]);
    expect(a.state.kind).toBe('closed');
    expect(b.state.kind).toBe('ready');
    expect(fixture.of(own, 'a')).not.toBe(a);
  });

  test('pool: forwards events of all its upstreams', async () => {
    const fixture = new Fixture();
    await use(fixture.of(own, 'a'));
    fixture.servers[0]!.send({ method: 'notifications/tools/list_changed' });
    fixture.servers[0]!.send({ method: 'notifications/resources/updated', params: { uri: 'file:a' } });
    await use(fixture.of(shared, 'a'));
    expect(fixture.events).toEqual([
      'own connecting',
      'own ready',
      'own list changed',
      'own file:a',
      'shared connecting',
      'shared ready',
    ]);
  });

  test('shutdown: closes all upstreams', async () => {
    const fixture = new Fixture();
    await Promise.all([use(fixture.of(own, 'a')), use(fixture.of(shared, 'a')), use(fixture.pool.get(own)!)]);
    await fixture.pool[Symbol.asyncDispose]();
    expect(fixture.servers.map(({ closes }) => closes)).toEqual([1, 1, 1]);
  });
});

describe('sign-in per caller', () => {
  const caller = (id: string): Caller => ({ id, via: 'http', profile: 'default' });

  function pooled(config: Partial<UpstreamConfig>): { pool: UpstreamPool; asked: string[] } {
    const asked: string[] = [];
    const pool = new UpstreamPool({
      open: () => Promise.reject(new Error('not opened here')),
      identity: { info: {}, capabilities: {} },
      eras: { recall: () => undefined, remember: () => {} },
      credentialsFor: (_config, who) => void asked.push(who),
      log: silentLogger,
      now: Date.now,
    });
    pool.add(upstreamConfig({ name: shared, ...config }));
    return { pool, asked };
  }

  const auth: UpstreamAuth = {
    flow: 'browser',
    per: 'caller',
    scopes: [],
    allowPrivate: false,
    callbackPort: { first: 0, last: 0 },
  };

  test('sign-in per caller: gives each caller one connection across sessions', async () => {
    const { pool, asked } = pooled({ auth });
    const [ada, bob] = [caller('ada'), caller('bob')];
    expect(pool.forSession(shared, 's1', ada)).toBe(pool.forSession(shared, 's2', ada));
    expect(pool.forSession(shared, 's1', ada)).not.toBe(pool.forSession(shared, 's1', bob));
    expect(pool.forSession(shared, 's1', ada)).not.toBe(pool.get(shared));
    expect(asked).toEqual(['', 'ada', 'bob']);
    await pool[Symbol.asyncDispose]();
    expect(pool.forSession(shared, 's1', ada)?.state.kind).toBe('closed');
  });

  test("sign-in per caller: uses the operator's sign-in for the local caller", async () => {
    const { pool } = pooled({ auth });
    expect(pool.forSession(shared, 's', { id: 'local', via: 'stdio', profile: 'default' })).toBe(
      pool.get(shared),
    );
    expect(pool.forSession(shared, 's', caller('local'))).toBe(pool.get(shared));
    await pool[Symbol.asyncDispose]();
  });

  test('sign-in per caller: applies to connections per session too', async () => {
    const { pool, asked } = pooled({ auth, share: 'session' });
    expect(pool.forSession(shared, 's1', caller('ada'))).not.toBe(
      pool.forSession(shared, 's2', caller('ada')),
    );
    expect(asked).toEqual(['', 'ada', 'ada']);
    await pool[Symbol.asyncDispose]();
  });

  test('shared sign-in: uses one connection for all callers', async () => {
    const { pool, asked } = pooled({ auth: { ...auth, per: 'server' } });
    expect(pool.forSession(shared, 's1', caller('ada'))).toBe(pool.get(shared));
    expect(asked).toEqual(['']);
    await pool[Symbol.asyncDispose]();
  });
});

const browser = 'browser' as UpstreamName;

interface FakeUpstream {
  readonly state: UpstreamState;
  readonly inFlight: number;
  readonly usedAt: number;
}

function fakeUpstream(
  usedAt: number,
  changes: { inFlight?: number; kind?: 'idle' | 'waiting' | 'connecting' } = {},
): FakeUpstream {
  const { inFlight = 0, kind = 'waiting' } = changes;
  return { state: { kind } as unknown as UpstreamState, inFlight, usedAt }; // Only `kind` is read.
}

function evicted(upstreams: Readonly<Record<string, FakeUpstream>>, max: number): string | undefined {
  return pickSessionToEvict(browser, {
    upstreams: new Map(Object.entries(upstreams)),
    max,
    usedAt: ({ usedAt }) => usedAt,
  });
}

describe('session limit', () => {
  test('session limit: evicts none below the limit', () => {
    expect(evicted({ a: fakeUpstream(1) }, 2)).toBeUndefined();
  });

  test('session limit: evicts the session idle longest', () => {
    expect(evicted({ a: fakeUpstream(3), b: fakeUpstream(1), c: fakeUpstream(2) }, 3)).toBe('b');
  });

  test('session limit: never evicts a session that is busy or connecting', () => {
    expect(
      evicted(
        {
          a: fakeUpstream(1, { inFlight: 1 }),
          b: fakeUpstream(2, { kind: 'connecting' }),
          c: fakeUpstream(3),
        },
        3,
      ),
    ).toBe('c');
  });

  test('session limit: does not count stopped processes', () => {
    expect(evicted({ a: fakeUpstream(1, { kind: 'idle' }), b: fakeUpstream(2) }, 2)).toBeUndefined();
  });

  test('session limit: fails with UPSTREAM_BUSY when all sessions are busy', () => {
    expect(() => evicted({ a: fakeUpstream(1, { inFlight: 2 }) }, 1)).toThrow(
      expect.objectContaining({ code: 'UPSTREAM_BUSY', details: { upstream: browser, retryAfterMs: 1000 } }),
    );
  });
});
