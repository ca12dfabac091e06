import { describe, expect, test } from 'vitest';

import { MemoryServer } from '../../../test/support/memory-server.ts';
import type { Script } from '../../../test/support/memory-server.ts';
import { upstreamConfig } from '../../../test/support/upstream-config.ts';
import type { UpstreamAuth, UpstreamConfig } from '../../config/config.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import type { Caller } from '../../model/caller.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { Peer } from '../../wire/peer.ts';
import { UpstreamPool } from './pool.ts';
import type { Upstream } from '../upstream.ts';

const shared = 'shared' as UpstreamName;
const own = 'own' as UpstreamName;

class Fixture {
  readonly servers: MemoryServer[] = [];
  readonly pool: UpstreamPool;
  readonly events: string[] = [];

  constructor(script: Script = ({ method }) => ({ did: method ?? '' })) {
    this.pool = new UpstreamPool({
      open: async (_, { handlers }) => {
        const server = new MemoryServer(script);
        this.servers.push(server);
        const facts = { era: 'legacy', protocol: 'x', info: {}, capabilities: {} } as const;
        return {
          peer: await Peer.over(server.open, handlers),
          facts,
          hints: () => Promise.resolve({ stderr: [] }),
        };
      },
      identity: { info: {}, capabilities: {} },
      eras: { recall: () => undefined, remember: () => {} },
      log: silentLogger,
      now: Date.now,
    });
    for (const config of configs) this.pool.add(config);
    this.pool.events.on('state', ({ name, state }) => this.events.push(`${name} ${state.at}`));
    this.pool.events.on('listChanged', ({ name }) => this.events.push(`${name} list changed`));
    this.pool.events.on('news', ({ name, params }) => this.events.push(`${name} ${String(params['uri'])}`));
  }

  of(name: UpstreamName, session: string): Upstream {
    return this.pool.forSession(name, session)!;
  }
}

const configs: readonly UpstreamConfig[] = [
  upstreamConfig({ name: shared, share: 'all' }),
  upstreamConfig({ name: own, share: 'session' }),
];

function boundFixture(script?: Script) {
  const fixture = new Fixture(script);
  const { pool, servers } = fixture;
  return { pool, servers, of: (name: UpstreamName, session: string) => fixture.of(name, session) };
}

async function use(upstream: Upstream): Promise<void> {
  await upstream.request('x', {}, { cancellation: new Cancellation() });
}

describe('a pool with other servers', () => {
  test('ends those of sessions with their server, when they have answered', async () => {
    const { pool, servers, of } = boundFixture();
    await Promise.all([use(of(shared, 's1')), use(of(own, 's1')), use(of(own, 's2'))]);
    expect(servers).toHaveLength(3);
    pool.apply([upstreamConfig({ name: shared, share: 'all' })], { reopened: [], graceMs: 1000 });
    expect([pool.names(), pool.forSession(own, 's1')]).toEqual([[shared], undefined]);
    await expect.poll(() => servers.filter(({ closes }) => closes > 0)).toHaveLength(2);
    await pool[Symbol.asyncDispose]();
  });

  test('gives the next request of a session another one, where it is reached otherwise', async () => {
    const { pool, servers, of } = boundFixture();
    const before = of(own, 's1');
    await use(before);
    pool.apply(configs, { reopened: [own], graceMs: 1000 });
    expect(of(own, 's1')).not.toBe(before);
    await use(of(own, 's1'));
    expect(servers.map(({ closes }) => closes > 0)).toEqual([true, false]);
    await pool[Symbol.asyncDispose]();
  });

  test('keeps the rest, with the settings of now', async () => {
    const { pool, servers, of } = boundFixture();
    const before = of(shared, 's1');
    await use(before);
    pool.apply([upstreamConfig({ name: shared, description: 'new' })], { reopened: [], graceMs: 1000 });
    expect([of(shared, 's1'), before.config.description, servers.length]).toEqual([before, 'new', 1]);
    await pool[Symbol.asyncDispose]();
  });

  test('ends with the ones that were still answering', async () => {
    const { pool, servers, of } = boundFixture(() => undefined);
    const call = use(of(shared, 's1')).catch((error: unknown) => error);
    await expect.poll(() => servers.length).toBe(1);
    pool.apply([], { reopened: [], graceMs: 60_000 });
    expect(servers[0]?.closes).toBe(0);
    await pool[Symbol.asyncDispose]();
    expect([servers[0]?.closes, await call]).toEqual([1, expect.any(Error)]);
  });
});

describe('a pool', () => {
  test('knows its upstreams by name', () => {
    const { pool } = new Fixture();
    expect(pool.names()).toEqual([shared, own]);
    expect(pool.get(own)?.config.share).toBe('session');
    expect(pool.get('other' as UpstreamName)).toBeUndefined();
    expect(pool.forSession('other' as UpstreamName, 'a')).toBeUndefined();
  });

  test('gives everybody the same upstream where it is shared by all', () => {
    const fixture = new Fixture();
    expect(fixture.of(shared, 'a')).toBe(fixture.of(shared, 'b'));
    expect(fixture.of(shared, 'a')).toBe(fixture.pool.get(shared));
  });

  test('gives every session its own upstream where it is shared by session', async () => {
    const fixture = new Fixture();
    const [a, b] = [fixture.of(own, 'a'), fixture.of(own, 'b')];
    expect(a).not.toBe(b);
    expect(a).not.toBe(fixture.pool.get(own));
    expect(fixture.of(own, 'a')).toBe(a);
    await Promise.all([use(a), use(b), use(a)]);
    expect(fixture.servers.map(({ methods }) => methods.length)).toEqual([2, 1]);
  });

  test('ends what a session had of its own, and nothing else', async () => {
    const fixture = new Fixture();
    const [a, b] = [fixture.of(own, 'a'), fixture.of(own, 'b')];
    await use(a);
    await use(b);
    await use(fixture.of(shared, 'a'));
    await fixture.pool.endSession('a');
    await fixture.pool.endSession('nobody');
    expect(fixture.servers.map(({ closes }) => closes)).toEqual([1, 0, 0]);
    expect(a.state.at).toBe('closed');
    expect(b.state.at).toBe('ready');
    expect(fixture.of(own, 'a')).not.toBe(a);
  });

  test('says what happens to any of them', async () => {
    const fixture = new Fixture();
    await use(fixture.of(own, 'a'));
    fixture.servers[0]!.say({ method: 'notifications/tools/list_changed' });
    fixture.servers[0]!.say({ method: 'notifications/resources/updated', params: { uri: 'file:a' } });
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

  test('ends all of them when it stops', async () => {
    const fixture = new Fixture();
    await Promise.all([use(fixture.of(own, 'a')), use(fixture.of(shared, 'a')), use(fixture.pool.get(own)!)]);
    await fixture.pool[Symbol.asyncDispose]();
    expect(fixture.servers.map(({ closes }) => closes)).toEqual([1, 1, 1]);
  });
});

describe('a pool with an upstream that callers sign in to by themselves', () => {
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

  test('gives each caller a connection of their own, whatever the session', async () => {
    const { pool, asked } = pooled({ auth });
    const [ada, bob] = [caller('ada'), caller('bob')];
    expect(pool.forSession(shared, 's1', ada)).toBe(pool.forSession(shared, 's2', ada));
    expect(pool.forSession(shared, 's1', ada)).not.toBe(pool.forSession(shared, 's1', bob));
    expect(pool.forSession(shared, 's1', ada)).not.toBe(pool.get(shared));
    expect(asked).toEqual(['', 'ada', 'bob']);
    await pool[Symbol.asyncDispose]();
    expect(pool.forSession(shared, 's1', ada)?.state.at).toBe('closed');
  });

  test('uses the sign-in of the operator for whoever is at this machine', async () => {
    const { pool } = pooled({ auth });
    expect(pool.forSession(shared, 's', { id: 'local', via: 'stdio', profile: 'default' })).toBe(
      pool.get(shared),
    );
    expect(pool.forSession(shared, 's', caller('local'))).toBe(pool.get(shared));
    await pool[Symbol.asyncDispose]();
  });

  test('uses the sign-in of the caller in a session of its own, too', async () => {
    const { pool, asked } = pooled({ auth, share: 'session' });
    expect(pool.forSession(shared, 's1', caller('ada'))).not.toBe(
      pool.forSession(shared, 's2', caller('ada')),
    );
    expect(asked).toEqual(['', 'ada', 'ada']);
    await pool[Symbol.asyncDispose]();
  });

  test('is as any other where there is one sign-in for all', async () => {
    const { pool, asked } = pooled({ auth: { ...auth, per: 'server' } });
    expect(pool.forSession(shared, 's1', caller('ada'))).toBe(pool.get(shared));
    expect(asked).toEqual(['']);
    await pool[Symbol.asyncDispose]();
  });
});
