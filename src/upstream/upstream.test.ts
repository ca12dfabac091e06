import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { MemoryServer } from '../../test/support/memory-server.ts';
import type { Script } from '../../test/support/memory-server.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era, ServerFacts } from '../model/server-facts.ts';
import { silentLogger } from '../observe/log.ts';
import { META } from '../wire/era.ts';
import { Peer } from '../wire/peer.ts';
import { HttpStatusError } from '../wire/stream.ts';
import type { ProcessHints } from './opening/classify.ts';
import type { OpenPeer } from './open-peer.ts';
import { OwnedIds } from './owned-ids.ts';
import { Upstream } from './upstream.ts';

const passing = new GatewayError('UPSTREAM_UNAVAILABLE', 'Nothing listens.');
const lasting = new GatewayError('UPSTREAM_REFUSED', 'No such command.');
const signIn = new GatewayError('UPSTREAM_NEEDS_AUTH', 'Who are you?');
const forgotten = new HttpStatusError(404, {}, '', true);

/** What one attempt to connect does: nothing means that it succeeds at once. */
type Plan = (cancellation: Cancellation) => Promise<void>;

/** A server that can be opened any number of times, and everything that was seen of it. */
class Fixture {
  readonly servers: MemoryServer[] = [];
  readonly eras: (Era | undefined)[] = [];
  readonly states: string[] = [];
  readonly updates: JsonObject[] = [];
  readonly remembered: Era[] = [];
  listChanges = 0;
  opens = 0;
  plan: Plan = () => Promise.resolve();
  script: Script = ({ method }) => ({ did: method });
  era: Era = 'legacy';
  capabilities: JsonObject = { tools: { listChanged: true }, resources: { subscribe: true } };
  recalled: Era | undefined;
  hints: () => Promise<ProcessHints> = () => Promise.resolve({ stderr: [] });
  readonly upstream: Upstream;

  constructor(config: Partial<UpstreamConfig> = {}) {
    this.upstream = new Upstream(upstreamConfig(config), {
      open: this.#open,
      identity: { info: { name: 'us' }, capabilities: {} },
      eras: {
        recall: () => (this.recalled === undefined ? undefined : { era: this.recalled }),
        remember: (_, { era }) => void this.remembered.push(era),
      },
      log: silentLogger,
      now: Date.now,
      random: () => 1,
      onState: (state) => this.states.push('attempt' in state ? `${state.at} ${state.attempt}` : state.at),
      onListChanged: () => this.listChanges++,
      onNews: (params) => this.updates.push(params),
      outside: () => undefined,
      owned: new OwnedIds(),
    });
  }

  readonly #open: OpenPeer = async (_, { era, cancellation, handlers }) => {
    this.opens++;
    this.eras.push(era);
    await this.plan(cancellation);
    const server = new MemoryServer((heard, self) => this.script(heard, self));
    this.servers.push(server);
    const facts: ServerFacts = { era: this.era, protocol: 'x', info: {}, capabilities: this.capabilities };
    return { peer: await Peer.over(server.open, handlers), facts, pid: 7, hints: () => this.hints() };
  };

  /** The newest one. */
  get server(): MemoryServer {
    return this.servers.at(-1)!;
  }

  call(method = 'tools/call', cancellation = new Cancellation()): Promise<unknown> {
    return this.upstream.request(method, {}, { cancellation }).then(({ value }) => value);
  }

  /** The call's error, or nothing when it went well. */
  failure(method?: string): Promise<unknown> {
    return this.call(method).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  get at(): string {
    return this.upstream.state.at;
  }

  async dispose(): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
  }
}

const silent: Script = () => undefined;

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('connecting', () => {
  test('happens once for fifty callers', async () => {
    const fixture = new Fixture();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => fixture.call(`m${at}`)));
    expect(answers).toEqual(answers.map((_, at) => ({ did: `m${at}` })));
    expect(fixture.opens).toBe(1);
    expect(fixture.states).toEqual(['connecting 1', 'ready 1']);
    expect(fixture.upstream.pid).toBe(7);
    expect(fixture.upstream.inFlight).toBe(0);
  });

  test('is not given up because one of the callers is', async () => {
    const fixture = new Fixture();
    const gate = deferred<void>();
    fixture.plan = () => gate.promise;
    const cancellation = new Cancellation();
    const [given, patient] = [fixture.call('a', cancellation), fixture.call('b')];
    const reason = new GatewayError('CALL_CANCELLED', 'enough');
    cancellation.cancel(reason);
    await expect(given).rejects.toBe(reason);
    gate.resolve();
    expect(await patient).toEqual({ did: 'b' });
    expect(fixture.opens).toBe(1);
    expect(fixture.server.methods).toEqual(['b']);
  });

  test('fails for everybody who waits, and says so in the state', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(passing);
    const failures = await Promise.all([fixture.failure(), fixture.failure()]);
    expect(failures).toEqual([passing, passing]);
    expect(fixture.upstream.state).toEqual({
      at: 'waiting',
      attempt: 1,
      retryAt: Date.now() + 500,
      error: passing,
    });
  });

  test('is given up after its time, and a server that comes later is closed', async () => {
    const fixture = new Fixture({ timeouts: { connectMs: 5000, callMs: 1 } });
    const gate = deferred<void>();
    fixture.plan = () => gate.promise;
    const failure = fixture.failure();
    await vi.advanceTimersByTimeAsync(5000);
    gate.resolve();
    expect(await failure).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('within 5 s') as string,
    });
    expect(fixture.server.closes).toBe(1);
    expect(fixture.at).toBe('waiting');
  });

  test('uses the era that was remembered, and the pinned one before that', async () => {
    const fixture = new Fixture();
    fixture.recalled = 'modern';
    fixture.era = 'modern';
    await fixture.call();
    expect(fixture.eras).toEqual(['modern']);
    expect(fixture.remembered).toEqual(['modern']);
    const pinned = new Fixture({ era: 'legacy' });
    pinned.recalled = 'modern';
    await pinned.call();
    expect(pinned.eras).toEqual(['legacy']);
  });

  test('that breaks in a way nobody thought of is parked, not repeated', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(new TypeError('bug'));
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.at).toBe('failed');
  });
});

describe('a call', () => {
  test('gets the error of the server as it came', async () => {
    const fixture = new Fixture();
    fixture.script = () => ({ error: { code: -32002, message: 'gone', data: { uri: 'x' } } });
    const error = await fixture.failure();
    expect(error).toBeInstanceOf(RpcError);
    expect((error as RpcError).body).toEqual({ code: -32002, message: 'gone', data: { uri: 'x' } });
    expect(fixture.at).toBe('ready');
  });

  test('tells who we are where the server is modern', async () => {
    const fixture = new Fixture();
    fixture.era = 'modern';
    await fixture.call();
    expect(fixture.server.last('tools/call').params?.['_meta']).toMatchObject({
      [META.clientInfo]: { name: 'us' },
    });
  });

  test('is cancelled alone', async () => {
    const fixture = new Fixture();
    fixture.script = ({ method }) => (method === 'fast' ? {} : undefined);
    const cancellation = new Cancellation();
    const slow = fixture.call('slow', cancellation);
    await fixture.call('fast');
    expect(fixture.upstream.inFlight).toBe(1);
    cancellation.cancel(new GatewayError('CALL_TIMEOUT', 'too slow'));
    await expect(slow).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    expect(fixture.server.last('notifications/cancelled').params).toMatchObject({ requestId: 1 });
    expect(fixture.upstream.inFlight).toBe(0);
    expect(fixture.at).toBe('ready');
  });

  test('hears of its progress', async () => {
    const fixture = new Fixture();
    fixture.script = (heard, server) => {
      server.say({ method: 'notifications/progress', params: { progressToken: heard.id, progress: 5 } });
      return {};
    };
    const seen: unknown[] = [];
    await fixture.upstream.request(
      'x',
      {},
      { cancellation: new Cancellation(), onProgress: (p) => seen.push(p['progress']) },
    );
    expect(seen).toEqual([5]);
  });

  test('fails alone where one exchange does, and says why in our words', async () => {
    const fixture = new Fixture();
    fixture.script = ({ id }, server) => {
      queueMicrotask(() => server.fail(Number(id), new HttpStatusError(503, {}, '')));
      return undefined;
    };
    expect(await fixture.failure()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(fixture.at).toBe('ready');
  });
});

describe('a lost connection', () => {
  test('fails the call at once, and the next call connects again', async () => {
    const fixture = new Fixture();
    await fixture.call();
    fixture.script = silent;
    fixture.hints = () => Promise.resolve({ exit: 'exited with code 3', stderr: ['out of paper'] });
    const failure = fixture.failure();
    await settle();
    fixture.server.crash();
    expect(await failure).toMatchObject({
      code: 'UPSTREAM_CLOSED',
      message: expect.stringMatching(/exited with code 3.*not repeated.*out of paper/) as string,
    });
    expect(fixture.at).toBe('idle');
    fixture.script = () => ({ back: true });
    expect(await fixture.call()).toEqual({ back: true });
    expect(fixture.opens).toBe(2);
    expect(fixture.servers[0]!.methods).toEqual(['tools/call', 'tools/call']);
    expect(fixture.servers[1]!.methods).toEqual(['tools/call']);
  });

  test('makes calls wait that come while its cause is found out', async () => {
    const fixture = new Fixture();
    await fixture.call();
    const cause = deferred<ProcessHints>();
    fixture.hints = () => cause.promise;
    fixture.server.crash();
    await settle();
    const call = fixture.call();
    await settle();
    expect(fixture.opens).toBe(1);
    cause.resolve({ stderr: [] });
    expect(await call).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
  });

  test('that answered nothing and died young continues the count and is tried again later and later', async () => {
    const fixture = new Fixture();
    await fixture.upstream.list(new Cancellation());
    for (const [attempt, wait] of [500, 1000, 2000, 4000].entries()) {
      expect(fixture.upstream.state).toMatchObject({ at: 'ready', attempt: attempt + 1 });
      fixture.server.crash();
      await settle();
      expect(fixture.upstream.state).toMatchObject({
        at: 'waiting',
        attempt: attempt + 1,
        retryAt: Date.now() + wait,
      });
      await vi.advanceTimersByTimeAsync(wait - 1);
      expect(fixture.opens).toBe(attempt + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(fixture.opens).toBe(attempt + 2);
    }
  });

  test.each([
    ['lived for ten seconds', () => vi.advanceTimersByTimeAsync(10_000)],
    ['answered a call', (fixture: Fixture) => fixture.call()],
    [
      'answered a call with an error',
      (fixture: Fixture) => {
        fixture.script = () => ({ error: { code: 1, message: 'no' } });
        return fixture.failure();
      },
    ],
  ])('is no failure when it %s', async (_, live) => {
    const fixture = new Fixture();
    await fixture.upstream.list(new Cancellation());
    await live(fixture);
    fixture.server.crash();
    await settle();
    expect(fixture.at).toBe('idle');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is told once, however often the server ends', async () => {
    const fixture = new Fixture();
    await fixture.call();
    fixture.server.crash();
    fixture.server.crash();
    await settle();
    expect(fixture.states).toEqual(['connecting 1', 'ready 1', 'idle']);
  });
});

describe('waiting', () => {
  async function waiting(failures: number): Promise<Fixture> {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(passing);
    await fixture.failure();
    for (let at = 1; at < failures; at++) await vi.advanceTimersByTimeAsync(500 * 2 ** (at - 1));
    expect(fixture.upstream.state).toMatchObject({ at: 'waiting', attempt: failures });
    return fixture;
  }

  test('lets a call join an attempt that is due soon', async () => {
    const fixture = await waiting(3);
    fixture.plan = () => Promise.resolve();
    const call = fixture.call();
    await vi.advanceTimersByTimeAsync(1999);
    expect(fixture.opens).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(await call).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(4);
  });

  test('fails a call at once when the next attempt is far, and says when it is', async () => {
    const fixture = await waiting(4);
    expect(await fixture.failure()).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'Nothing listens. The next attempt is in 4 s.',
      details: { retryAt: Date.now() + 4000 },
      cause: passing,
    });
    expect(fixture.opens).toBe(4);
  });

  test('ends a joined call with the failure of the attempt that it joined', async () => {
    const fixture = await waiting(1);
    const failures = [fixture.failure(), fixture.failure()];
    await vi.advanceTimersByTimeAsync(500);
    expect(await Promise.all(failures)).toEqual([passing, passing]);
    expect(fixture.opens).toBe(2);
  });

  test('lets a caller who joined give up', async () => {
    const fixture = await waiting(1);
    const cancellation = new Cancellation();
    const call = fixture.call('x', cancellation);
    cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
    await expect(call).rejects.toThrow('enough');
  });

  test('is over at once when a person asks, and counts anew', async () => {
    const fixture = await waiting(5);
    fixture.plan = () => Promise.resolve();
    await fixture.upstream.retryNow();
    expect(fixture.upstream.state).toMatchObject({ at: 'ready', attempt: 1 });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(fixture.opens).toBe(6);
  });

  test('never waits longer than a minute', async () => {
    const fixture = await waiting(1);
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    const { state } = fixture.upstream;
    expect(state.at).toBe('waiting');
    expect(state.at === 'waiting' && state.retryAt - Date.now()).toBeLessThanOrEqual(60_000);
    expect(fixture.opens).toBeGreaterThan(60);
  });
});

describe.each([
  ['failed', lasting],
  ['needs-auth', signIn],
])('an upstream that is %s', (at, error) => {
  test('stays so until a person asks', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(error);
    expect(await fixture.failure()).toBe(error);
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(await fixture.failure()).toBe(error);
    expect(fixture.opens).toBe(1);
    expect(fixture.at).toBe(at);
    expect(vi.getTimerCount()).toBe(0);
    fixture.plan = () => Promise.resolve();
    await fixture.upstream.retryNow();
    expect(await fixture.call()).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
  });
});

describe('asking for a new attempt', () => {
  test('changes nothing while there is a connection or an attempt', async () => {
    const fixture = new Fixture();
    const gate = deferred<void>();
    fixture.plan = () => gate.promise;
    const call = fixture.call();
    await fixture.upstream.retryNow();
    gate.resolve();
    await call;
    await fixture.upstream.retryNow();
    expect(fixture.opens).toBe(1);
  });

  test('fails as the attempt does', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(lasting);
    await expect(fixture.upstream.retryNow()).rejects.toBe(lasting);
  });

  test('is refused when everything stops', async () => {
    const fixture = new Fixture();
    await fixture.dispose();
    await expect(fixture.upstream.retryNow()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('idling', () => {
  test('stops the server after a minute without use, and the next call starts it again', async () => {
    const fixture = new Fixture();
    await fixture.call();
    await vi.advanceTimersByTimeAsync(59_999);
    expect(fixture.at).toBe('ready');
    await vi.advanceTimersByTimeAsync(1);
    expect(fixture.at).toBe('idle');
    expect(fixture.server.closes).toBe(1);
    expect(await fixture.call()).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
    expect(fixture.states).toEqual(['connecting 1', 'ready 1', 'idle', 'connecting 1', 'ready 1']);
  });

  test('never stops it during a call', async () => {
    const fixture = new Fixture({ idle: 1000 });
    fixture.script = silent;
    const call = fixture.call();
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(fixture.at).toBe('ready');
    fixture.server.answer(1, { late: true });
    expect(await call).toEqual({ late: true });
    await vi.advanceTimersByTimeAsync(999);
    expect(fixture.at).toBe('ready');
    await vi.advanceTimersByTimeAsync(1001);
    expect(fixture.at).toBe('idle');
  });

  test('begins anew with every use', async () => {
    const fixture = new Fixture({ idle: 1000 });
    for (let at = 0; at < 20; at++) {
      await fixture.call();
      await vi.advanceTimersByTimeAsync(900);
    }
    expect(fixture.opens).toBe(1);
  });

  test('takes longer for a server that is used often or was only listed', async () => {
    const often = new Fixture();
    for (let at = 0; at < 21; at++) await often.call();
    const listed = new Fixture();
    await listed.upstream.list(new Cancellation());
    await vi.advanceTimersByTimeAsync(5 * 60_000 - 1);
    expect([often.at, listed.at]).toEqual(['ready', 'ready']);
    await vi.advanceTimersByTimeAsync(1);
    expect([often.at, listed.at]).toEqual(['idle', 'idle']);
  });

  test('does not happen where the config says so, nor while somebody waits for updates', async () => {
    const never = new Fixture({ idle: 'never' });
    await never.call();
    const subscribed = new Fixture({ idle: 1000 });
    await subscribed.upstream.subscribe(new Set(['file:a']), new Cancellation());
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect([never.at, subscribed.at]).toEqual(['ready', 'ready']);
    await subscribed.upstream.subscribe(new Set(), new Cancellation());
    await vi.advanceTimersByTimeAsync(2000);
    expect(subscribed.at).toBe('idle');
  });
});

describe('a server that forgot our session', () => {
  function forgetting(times: number): Fixture {
    const fixture = new Fixture();
    let left = times;
    fixture.script = ({ id, method }, server) => {
      if (method !== 'tools/call' || left-- <= 0) return { did: method };
      queueMicrotask(() => server.fail(Number(id), forgotten));
      return undefined;
    };
    return fixture;
  }

  test('gets the call once more on a new connection', async () => {
    const fixture = forgetting(1);
    await fixture.call('warm-up');
    expect(await fixture.call()).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
    expect(fixture.servers.map(({ methods }) => methods)).toEqual([
      ['warm-up', 'tools/call'],
      ['tools/call'],
    ]);
    expect(fixture.upstream.inFlight).toBe(0);
  });

  test('gets it exactly once more', async () => {
    const fixture = forgetting(2);
    await fixture.call('warm-up');
    expect(await fixture.failure()).toBeInstanceOf(GatewayError);
    expect(fixture.opens).toBe(2);
  });

  test('gets every call again that it refused unread', async () => {
    const fixture = forgetting(3);
    await fixture.call('warm-up');
    const answers = await Promise.all([fixture.call(), fixture.call(), fixture.call()]);
    expect(answers).toEqual(answers.map(() => ({ did: 'tools/call' })));
    expect(fixture.opens).toBe(2);
  });

  test('does not take other calls with it that it may still answer', async () => {
    const fixture = forgetting(1);
    await fixture.call('warm-up');
    const { script } = fixture;
    fixture.script = (heard, server) => (heard.method === 'slow' ? undefined : script(heard, server));
    const slow = fixture.call('slow');
    await fixture.call();
    fixture.servers[0]!.answer(fixture.servers[0]!.last('slow').id, { late: true });
    expect(await slow).toEqual({ late: true });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fixture.servers[0]!.closes).toBe(1);
  });
});

describe('the end', () => {
  test('gives up an attempt, tells who waits, and leaves nothing behind', async () => {
    const fixture = new Fixture();
    fixture.plan = (cancellation) => new Promise((_, reject) => cancellation.onCancel(reject));
    const failure = fixture.failure();
    await fixture.dispose();
    expect(await failure).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(fixture.at).toBe('closed');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('closes a server that comes up meanwhile, and waits for that', async () => {
    const fixture = new Fixture();
    const gate = deferred<void>();
    fixture.plan = () => gate.promise;
    const failure = fixture.failure();
    const ends = [fixture.dispose(), fixture.dispose()];
    gate.resolve();
    await ends[1];
    expect(fixture.server.closes).toBe(1);
    await ends[0];
    expect(await failure).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(fixture.states).toEqual(['connecting 1', 'closed']);
  });

  test('closes the connection and fails what is in flight', async () => {
    const fixture = new Fixture();
    await fixture.call();
    fixture.script = silent;
    const failure = fixture.failure();
    await fixture.dispose();
    expect(await failure).toBeInstanceOf(GatewayError);
    expect(fixture.server.closes).toBe(1);
    expect(fixture.states).toEqual(['connecting 1', 'ready 1', 'closed']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('wakes those who wait for the next attempt', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(passing);
    await fixture.failure();
    const failure = fixture.failure();
    await fixture.dispose();
    expect(await failure).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is final', async () => {
    const fixture = new Fixture();
    await fixture.dispose();
    expect(await fixture.failure()).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(fixture.opens).toBe(0);
  });
});

describe('subscriptions', () => {
  const uris = (...names: readonly string[]): ReadonlySet<string> => new Set(names);

  test('tell an older server what is new and what is over', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris('a', 'b'), new Cancellation());
    await fixture.upstream.subscribe(uris('b', 'c'), new Cancellation());
    expect(said(fixture.server)).toEqual(['subscribe a', 'subscribe b', 'subscribe c', 'unsubscribe a']);
  });

  test('are made again after a reconnection, and keep the upstream connected', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris('a', 'b'), new Cancellation());
    await fixture.call();
    fixture.server.crash();
    await settle();
    expect(fixture.opens).toBe(2);
    expect(said(fixture.server)).toEqual(['subscribe a', 'subscribe b']);
  });

  test('hear of updates and of changed lists', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris('a'), new Cancellation());
    fixture.server.say({ method: 'notifications/resources/updated', params: { uri: 'a' } });
    fixture.server.say({ method: 'notifications/resources/updated' });
    for (const list of ['tools', 'prompts', 'resources'])
      fixture.server.say({ method: `notifications/${list}/list_changed` });
    expect(fixture.updates).toEqual([{ uri: 'a' }]);
    expect(fixture.listChanges).toBe(3);
  });

  test.each(['connected', 'not connected'])(
    'fail when the server refuses them while it was %s',
    async (when) => {
      const fixture = new Fixture();
      if (when === 'connected') await fixture.call();
      fixture.script = ({ method }) =>
        method === 'resources/subscribe' ? { error: { code: -32601, message: 'no' } } : {};
      await expect(fixture.upstream.subscribe(uris('a'), new Cancellation())).rejects.toThrow('no');
      expect(fixture.at).toBe('ready');
    },
  );

  test('wait for the agreement of a server that must be started first, and are made once', async () => {
    const fixture = new Fixture();
    fixture.script = silent;
    let isAgreed = false;
    const subscribing = fixture.upstream
      .subscribe(uris('a'), new Cancellation())
      .then(() => (isAgreed = true));
    await settle();
    expect(said(fixture.server)).toEqual(['subscribe a']);
    expect(isAgreed).toBe(false);
    fixture.server.answer(1, {});
    await subscribing;
  });

  test('of two who ask while it is started are both made, each once', async () => {
    const fixture = new Fixture();
    await Promise.all([
      fixture.upstream.subscribe(uris('a'), new Cancellation()),
      fixture.upstream.subscribe(uris('a', 'b'), new Cancellation()),
    ]);
    expect(said(fixture.server).toSorted()).toEqual(['subscribe a', 'subscribe b']);
  });

  test('that nobody wants any more start no server', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris(), new Cancellation());
    expect(fixture.opens).toBe(0);
  });

  test('listen to a modern server with one request, which a new one replaces', async () => {
    const fixture = new Fixture();
    fixture.era = 'modern';
    fixture.script = ({ method }) => (method === 'subscriptions/listen' ? undefined : {});
    await fixture.call();
    expect(filters(fixture.server)).toEqual([{ toolsListChanged: true }]);
    await fixture.upstream.subscribe(uris('a'), new Cancellation());
    await fixture.upstream.subscribe(uris('a'), new Cancellation());
    expect(filters(fixture.server)).toEqual([
      { toolsListChanged: true },
      { toolsListChanged: true, resourceSubscriptions: ['a'] },
    ]);
    expect(fixture.server.last('notifications/cancelled').params).toMatchObject({ requestId: 1 });
    fixture.server.crash();
    await settle();
    expect(fixture.opens).toBe(2);
    expect(filters(fixture.server)).toEqual([{ toolsListChanged: true, resourceSubscriptions: ['a'] }]);
  });

  test('need no request to a modern server that never changes', async () => {
    const fixture = new Fixture();
    fixture.era = 'modern';
    fixture.capabilities = { tools: {} };
    await fixture.call();
    expect(fixture.server.methods).toEqual(['tools/call']);
  });
});

describe('an upstream', () => {
  test('lists what its server offers', async () => {
    const fixture = new Fixture();
    fixture.script = ({ method }) =>
      method === 'tools/list' ? { tools: [{ name: 'a' }] } : { resources: [] };
    expect(await fixture.upstream.list(new Cancellation())).toMatchObject({
      tools: [{ name: 'a' }],
      isCut: false,
    });
  });

  test('survives whatever happens in whatever order, and stops without a trace', async () => {
    const step = fc.oneof(
      fc.constantFrom(
        'call',
        'cancel',
        'crash',
        'answer',
        'retry',
        'list',
        'subscribe',
        'unsubscribe',
        'forget',
      ),
      fc.constantFrom('succeed', 'refuse', 'fail', 'hang').map((plan) => `plan ${plan}`),
      fc.constantFrom(0, 1, 400, 2000, 11_000, 61_000).map((ms) => `wait ${ms}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (history) => {
        const story = new Story();
        for (const each of history) await story.act(each);
        expect(await story.end()).toEqual({
          wrong: [],
          timers: 0,
          inFlight: 0,
          closes: story.servers.map(() => 1),
          state: 'closed',
        });
      }),
      { numRuns: 500 },
    );
  });
});

/** Drives an upstream by words, and remembers whatever should not have happened. */
class Story {
  readonly #fixture = new Fixture({ timeouts: { connectMs: 5000, callMs: 1 } });
  readonly #cancellations: Cancellation[] = [];
  readonly #outcomes: Promise<unknown>[] = [];
  readonly #wrong: unknown[] = [];

  constructor() {
    this.#fixture.script = silent;
  }

  get servers(): readonly MemoryServer[] {
    return this.#fixture.servers;
  }

  async act(step: string): Promise<void> {
    const fixture = this.#fixture;
    const server = fixture.servers.at(-1);
    const [verb, detail] = step.split(' ') as [string, string | undefined];
    switch (verb) {
      case 'call':
        this.#cancellations.push(this.#begin((cancellation) => fixture.call('x', cancellation)));
        break;
      case 'list':
        this.#begin((cancellation) => fixture.upstream.list(cancellation));
        break;
      case 'subscribe':
      case 'unsubscribe':
        this.#begin((cancellation) =>
          fixture.upstream.subscribe(new Set(verb === 'subscribe' ? ['a'] : []), cancellation),
        );
        break;
      case 'retry':
        this.#begin(() => fixture.upstream.retryNow());
        break;
      case 'cancel':
        this.#cancellations.shift()?.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
        break;
      case 'crash':
        server?.crash();
        break;
      case 'answer':
        for (const { id, method } of server?.heard ?? []) if (method !== undefined) server?.answer(id, {});
        break;
      case 'forget':
        server?.fail(Number(server.heard.at(-1)?.id), forgotten);
        break;
      case 'plan':
        fixture.plan = plans[detail ?? ''] ?? fixture.plan;
        break;
      default:
        await vi.advanceTimersByTimeAsync(Number(detail));
    }
    if (detail !== '0') await settle();
  }

  async end(): Promise<object> {
    const { upstream, states } = this.#fixture;
    await this.#fixture.dispose();
    await Promise.all(this.#outcomes);
    await vi.advanceTimersByTimeAsync(120_000);
    return {
      wrong: this.#wrong,
      timers: vi.getTimerCount(),
      inFlight: upstream.inFlight,
      closes: this.servers.map(({ closes }) => closes),
      state: states.at(-1),
    };
  }

  #begin(work: (cancellation: Cancellation) => Promise<unknown>): Cancellation {
    const cancellation = new Cancellation();
    const outcome = work(cancellation).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code === 'INVARIANT') this.#wrong.push(error);
    });
    this.#outcomes.push(outcome);
    return cancellation;
  }
}

const plans: Readonly<Record<string, Plan>> = {
  succeed: () => Promise.resolve(),
  refuse: () => Promise.reject(passing),
  fail: () => Promise.reject(lasting),
  hang: (cancellation) => new Promise((_, reject) => cancellation.onCancel(reject)),
};

/** Lets everything happen that needs no time. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

function said(server: MemoryServer): readonly string[] {
  return server.heard.flatMap(({ method, params }) => {
    const [, verb] = /^resources\/(subscribe|unsubscribe)$/.exec(method ?? '') ?? [];
    return verb === undefined ? [] : [`${verb} ${String(params?.['uri'])}`];
  });
}

function filters(server: MemoryServer): readonly unknown[] {
  return server.heard
    .filter(({ method }) => method === 'subscriptions/listen')
    .map(({ params }) => params?.['notifications']);
}
