import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { MemoryServer } from '../../test/support/memory-server.ts';
import type { MemoryServerScript } from '../../test/support/memory-server.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation, rejectOnCancel } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import { GatewayError, RpcError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era, ServerFacts } from '../core/server-facts.ts';
import { silentLogger } from '../observability/log.ts';
import { META_KEYS } from '../protocol/era.ts';
import { RpcClient } from '../protocol/rpc-client.ts';
import { HttpStatusError } from '../protocol/client-transport.ts';
import type { ProcessHints } from './connecting/upstream-errors.ts';
import type { OpenServer, OpenServerOptions } from './server-opener.ts';
import { IdOwners } from './id-owners.ts';
import { Upstream } from './upstream.ts';

const temporaryError = new GatewayError('UPSTREAM_UNAVAILABLE', 'Nothing listens.');
const permanentError = new GatewayError('UPSTREAM_REFUSED', 'No such command.');
const signInError = new GatewayError('UPSTREAM_NEEDS_AUTH', 'Who are you?');
const sessionLostError = new HttpStatusError(404, {}, '', true);

/** The behaviour of one connection attempt; by default it succeeds at once. */
type Plan = (
  cancellation: Cancellation,
  onInstall: NonNullable<OpenServerOptions['onInstall']>,
) => Promise<void>;

/** An upstream whose server can be opened any number of times, with a record of its events. */
class Fixture {
  readonly servers: MemoryServer[] = [];
  readonly eras: (Era | undefined)[] = [];
  readonly states: string[] = [];
  readonly updates: JsonObject[] = [];
  readonly remembered: Era[] = [];
  listChanges = 0;
  opens = 0;
  plan: Plan = () => Promise.resolve();
  script: MemoryServerScript = ({ method }) => ({ did: method });
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
      onState: (state) =>
        this.states.push('attempt' in state ? `${state.kind} ${state.attempt}` : state.kind),
      onListChanged: () => this.listChanges++,
      onUpdate: (params) => this.updates.push(params),
      attachedClient: () => undefined,
      idOwners: new IdOwners(),
    });
  }

  readonly #open: OpenServer = async (_, { era, cancellation, handlers, onInstall }) => {
    this.opens++;
    this.eras.push(era);
    await this.plan(cancellation, onInstall ?? (() => {}));
    const server = new MemoryServer((heard, self) => this.script(heard, self));
    this.servers.push(server);
    const facts: ServerFacts = { era: this.era, protocol: 'x', info: {}, capabilities: this.capabilities };
    return {
      client: await RpcClient.open(server.open, handlers),
      facts,
      pid: 7,
      processHints: () => this.hints(),
    };
  };

  /** The server of the newest connection. */
  get server(): MemoryServer {
    return this.servers.at(-1)!;
  }

  call(method = 'tools/call', cancellation = new Cancellation()): Promise<unknown> {
    return this.upstream.request(method, {}, { cancellation }).then(({ value }) => value);
  }

  /** Returns the error of a call, or undefined if it succeeds. */
  failure(method?: string): Promise<unknown> {
    return this.call(method).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  get stateKind(): string {
    return this.upstream.state.kind;
  }

  async dispose(): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
  }
}

const silent: MemoryServerScript = () => undefined;

/** Without setImmediate: `fetch` calls it when a response of an earlier test in this thread ends, and it would count as a timer. */
const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000, toFake: [...FAKED] }));
afterEach(() => void vi.useRealTimers());

describe('installing', () => {
  /** An upstream whose first start is in the hands of the test: `progress` reports what its package launcher does. */
  function installation() {
    const fixture = new Fixture({ timeouts: { connectMs: 5000, callMs: 1 } });
    const installed = deferred<void>();
    let progress: (kind: 'queued' | 'working') => void = () => {};
    fixture.plan = (cancellation, onInstall) => {
      progress = onInstall;
      return rejectOnCancel(installed.promise, cancellation);
    };
    const first = fixture.call().catch((error: unknown) => error);
    return { fixture, installed, first, progress: (kind: 'queued' | 'working') => progress(kind) };
  }

  /** Works for some seconds, with activity every second. */
  async function work(progress: (kind: 'working') => void, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      progress('working');
      await vi.advanceTimersByTimeAsync(1000);
    }
  }

  test('install: connects after minutes while the launcher works', async () => {
    const { fixture, installed, progress } = installation();
    progress('queued');
    expect(fixture.upstream.isInstalling).toBe(true);
    await work(progress, 240);
    installed.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(fixture.states).toEqual(['connecting 1', 'connecting 1', 'ready 1']);
    expect(fixture.upstream.isInstalling).toBe(false);
    await fixture.dispose();
  });

  test('install: the time in the queue does not count', async () => {
    const { fixture, installed, progress } = installation();
    progress('queued');
    await vi.advanceTimersByTimeAsync(3_600_000);
    progress('working');
    await vi.advanceTimersByTimeAsync(4000);
    expect(fixture.upstream.isInstalling).toBe(true);
    installed.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(fixture.stateKind).toBe('ready');
    await fixture.dispose();
  });

  test('install: fails when the launcher does nothing for timeouts.connect', async () => {
    const { fixture, progress } = installation();
    progress('queued');
    await work(progress, 20);
    await vi.advanceTimersByTimeAsync(4000);
    const message = 'Server "server" was not ready, and its launcher did nothing for 5 s (timeouts.connect).';
    expect(fixture.upstream.state).toMatchObject({ kind: 'waiting', error: { message } });
    await fixture.dispose();
  });

  test('install: fails after five minutes even if the launcher works', async () => {
    const { fixture, progress } = installation();
    progress('queued');
    await work(progress, 299);
    expect(fixture.upstream.isInstalling).toBe(true);
    await work(progress, 1);
    const message = expect.stringContaining('within 300 s, although its launcher was working') as string;
    expect(fixture.upstream.state).toMatchObject({ kind: 'waiting', error: { message } });
    await fixture.dispose();
  });

  test('install: requests wait for timeouts.connect at most and are told the reason', async () => {
    const { fixture, installed, first, progress } = installation();
    progress('queued');
    await work(progress, 3);
    const second = fixture.failure();
    await work(progress, 2);
    const expected = { code: 'UPSTREAM_UNAVAILABLE', details: { isInstalling: true } };
    expect(await first).toMatchObject(expected);
    await work(progress, 3);
    expect(await second).toMatchObject(expected);
    const third = fixture.call('c');
    installed.resolve();
    expect(await third).toEqual({ did: 'c' });
    expect(fixture.opens).toBe(1);
    await fixture.dispose();
  });

  test('install: ignores late progress after the upstream was closed', async () => {
    const { fixture, first, progress } = installation();
    progress('queued');
    await fixture.dispose();
    expect(() => progress('working')).not.toThrow();
    expect(await first).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('connecting', () => {
  test('connect: opens one connection for fifty concurrent calls', async () => {
    const fixture = new Fixture();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => fixture.call(`m${at}`)));
    expect(answers).toEqual(answers.map((_, at) => ({ did: `m${at}` })));
    expect(fixture.opens).toBe(1);
    expect(fixture.states).toEqual(['connecting 1', 'ready 1']);
    expect(fixture.upstream.pid).toBe(7);
    expect(fixture.upstream.inFlight).toBe(0);
  });

  test('connect: continues when one of the waiting calls is cancelled', async () => {
    const fixture = new Fixture();
    const gate = deferred<void>();
    fixture.plan = () => gate.promise;
    const cancellation = new Cancellation();
    const [cancelled, waiting] = [fixture.call('a', cancellation), fixture.call('b')];
    const reason = new GatewayError('CALL_CANCELLED', 'enough');
    cancellation.cancel(reason);
    await expect(cancelled).rejects.toBe(reason);
    gate.resolve();
    expect(await waiting).toEqual({ did: 'b' });
    expect(fixture.opens).toBe(1);
    expect(fixture.server.methods).toEqual(['b']);
  });

  test('connect: rejects all waiting calls when it fails, and schedules a retry', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(temporaryError);
    const failures = await Promise.all([fixture.failure(), fixture.failure()]);
    expect(failures).toEqual([temporaryError, temporaryError]);
    expect(fixture.upstream.state).toEqual({
      kind: 'waiting',
      attempt: 1,
      retryAt: Date.now() + 500,
      error: temporaryError,
    });
  });

  test('connect: times out and closes a server that becomes ready later', async () => {
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
    expect(fixture.stateKind).toBe('waiting');
  });

  test('connect: uses the pinned era, else the remembered one', async () => {
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

  test('connect: moves to failed on an unexpected exception and does not retry', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(new TypeError('bug'));
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.stateKind).toBe('failed');
  });
});

describe('calls', () => {
  test('call: returns the error of the server unchanged', async () => {
    const fixture = new Fixture();
    fixture.script = () => ({ error: { code: -32002, message: 'gone', data: { uri: 'x' } } });
    const error = await fixture.failure();
    expect(error).toBeInstanceOf(RpcError);
    expect((error as RpcError).body).toEqual({ code: -32002, message: 'gone', data: { uri: 'x' } });
    expect(fixture.stateKind).toBe('ready');
  });

  test('call: identifies the gateway to a modern server', async () => {
    const fixture = new Fixture();
    fixture.era = 'modern';
    await fixture.call();
    expect(fixture.server.last('tools/call').params?.['_meta']).toMatchObject({
      [META_KEYS.clientInfo]: { name: 'us' },
    });
  });

  test('call: is cancelled without affecting others', async () => {
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
    expect(fixture.stateKind).toBe('ready');
  });

  test('call: receives progress', async () => {
    const fixture = new Fixture();
    fixture.script = (heard, server) => {
      server.send({ method: 'notifications/progress', params: { progressToken: heard.id, progress: 5 } });
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

  test('call: fails alone when one HTTP exchange fails', async () => {
    const fixture = new Fixture();
    fixture.script = ({ id }, server) => {
      queueMicrotask(() => server.fail(Number(id), new HttpStatusError(503, {}, '')));
      return undefined;
    };
    expect(await fixture.failure()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(fixture.stateKind).toBe('ready');
  });
});

describe('lost connection', () => {
  test('lost connection: fails the running call, and the next call reconnects', async () => {
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
    expect(fixture.stateKind).toBe('idle');
    fixture.script = () => ({ back: true });
    expect(await fixture.call()).toEqual({ back: true });
    expect(fixture.opens).toBe(2);
    expect(fixture.servers[0]!.methods).toEqual(['tools/call', 'tools/call']);
    expect(fixture.servers[1]!.methods).toEqual(['tools/call']);
  });

  test('lost connection: delays new calls until its cause is known', async () => {
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

  test('lost connection: backs off further when it was short-lived and answered no call', async () => {
    const fixture = new Fixture();
    await fixture.upstream.list(new Cancellation());
    for (const [attempt, wait] of [500, 1000, 2000, 4000].entries()) {
      expect(fixture.upstream.state).toMatchObject({ kind: 'ready', attempt: attempt + 1 });
      fixture.server.crash();
      await settle();
      expect(fixture.upstream.state).toMatchObject({
        kind: 'waiting',
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
  ])('lost connection: does not count as a failure when it %s', async (_, live) => {
    const fixture = new Fixture();
    await fixture.upstream.list(new Cancellation());
    await live(fixture);
    fixture.server.crash();
    await settle();
    expect(fixture.stateKind).toBe('idle');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('lost connection: is reported once', async () => {
    const fixture = new Fixture();
    await fixture.call();
    fixture.server.crash();
    fixture.server.crash();
    await settle();
    expect(fixture.states).toEqual(['connecting 1', 'ready 1', 'idle']);
  });
});

describe('waiting for a retry', () => {
  async function waiting(failures: number): Promise<Fixture> {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(temporaryError);
    await fixture.failure();
    for (let at = 1; at < failures; at++) await vi.advanceTimersByTimeAsync(500 * 2 ** (at - 1));
    expect(fixture.upstream.state).toMatchObject({ kind: 'waiting', attempt: failures });
    return fixture;
  }

  test('retry: lets a call join an attempt that is due soon', async () => {
    const fixture = await waiting(3);
    fixture.plan = () => Promise.resolve();
    const call = fixture.call();
    await vi.advanceTimersByTimeAsync(1999);
    expect(fixture.opens).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(await call).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(4);
  });

  test('retry: rejects a call at once when the next attempt is far away, and says when it is', async () => {
    const fixture = await waiting(4);
    expect(await fixture.failure()).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'Nothing listens. The next attempt is in 4 s.',
      details: { retryAt: Date.now() + 4000 },
      cause: temporaryError,
    });
    expect(fixture.opens).toBe(4);
  });

  test('retry: rejects joined calls when the attempt fails', async () => {
    const fixture = await waiting(1);
    const failures = [fixture.failure(), fixture.failure()];
    await vi.advanceTimersByTimeAsync(500);
    expect(await Promise.all(failures)).toEqual([temporaryError, temporaryError]);
    expect(fixture.opens).toBe(2);
  });

  test('retry: lets a joined call be cancelled', async () => {
    const fixture = await waiting(1);
    const cancellation = new Cancellation();
    const call = fixture.call('x', cancellation);
    cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
    await expect(call).rejects.toThrow('enough');
  });

  test('retry: starts at once on request and resets the attempt counter', async () => {
    const fixture = await waiting(5);
    fixture.plan = () => Promise.resolve();
    await fixture.upstream.retryNow();
    expect(fixture.upstream.state).toMatchObject({ kind: 'ready', attempt: 1 });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(fixture.opens).toBe(6);
  });

  test('retry: waits at most a minute', async () => {
    const fixture = await waiting(1);
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    const { state } = fixture.upstream;
    expect(state.kind).toBe('waiting');
    expect(state.kind === 'waiting' && state.retryAt - Date.now()).toBeLessThanOrEqual(60_000);
    expect(fixture.opens).toBeGreaterThan(60);
  });
});

describe.each([
  ['failed', permanentError],
  ['needs-auth', signInError],
])('permanent failure: %s', (at, error) => {
  test('permanent failure: is not retried until a person asks', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(error);
    expect(await fixture.failure()).toBe(error);
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(await fixture.failure()).toBe(error);
    expect(fixture.opens).toBe(1);
    expect(fixture.stateKind).toBe(at);
    expect(vi.getTimerCount()).toBe(0);
    fixture.plan = () => Promise.resolve();
    await fixture.upstream.retryNow();
    expect(await fixture.call()).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
  });
});

describe('manual retry', () => {
  test('manual retry: does nothing while connected or connecting', async () => {
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

  test('manual retry: rejects when the attempt fails', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(permanentError);
    await expect(fixture.upstream.retryNow()).rejects.toBe(permanentError);
  });

  test('manual retry: is rejected during shutdown', async () => {
    const fixture = new Fixture();
    await fixture.dispose();
    await expect(fixture.upstream.retryNow()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('idle timeout', () => {
  test('idle timeout: stops a server a minute after its last call, and the next call restarts it', async () => {
    const fixture = new Fixture();
    await fixture.call();
    await vi.advanceTimersByTimeAsync(59_999);
    expect(fixture.stateKind).toBe('ready');
    await vi.advanceTimersByTimeAsync(1);
    expect(fixture.stateKind).toBe('idle');
    expect(fixture.server.closes).toBe(1);
    expect(await fixture.call()).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
    expect(fixture.states).toEqual(['connecting 1', 'ready 1', 'idle', 'connecting 1', 'ready 1']);
  });

  test('idle timeout: never stops a server during a call', async () => {
    const fixture = new Fixture({ idle: 1000 });
    fixture.script = silent;
    const call = fixture.call();
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(fixture.stateKind).toBe('ready');
    fixture.server.answer(1, { late: true });
    expect(await call).toEqual({ late: true });
    await vi.advanceTimersByTimeAsync(999);
    expect(fixture.stateKind).toBe('ready');
    await vi.advanceTimersByTimeAsync(1001);
    expect(fixture.stateKind).toBe('idle');
  });

  test('idle timeout: starts again with every call', async () => {
    const fixture = new Fixture({ idle: 1000 });
    for (let at = 0; at < 20; at++) {
      await fixture.call();
      await vi.advanceTimersByTimeAsync(900);
    }
    expect(fixture.opens).toBe(1);
  });

  test('idle timeout: is longer for servers that are used often or were only listed', async () => {
    const often = new Fixture();
    for (let at = 0; at < 21; at++) await often.call();
    const listed = new Fixture();
    await listed.upstream.list(new Cancellation());
    await vi.advanceTimersByTimeAsync(5 * 60_000 - 1);
    expect([often.stateKind, listed.stateKind]).toEqual(['ready', 'ready']);
    await vi.advanceTimersByTimeAsync(1);
    expect([often.stateKind, listed.stateKind]).toEqual(['idle', 'idle']);
  });

  test('idle timeout: does not apply if disabled or while subscriptions exist', async () => {
    const never = new Fixture({ idle: 'never' });
    await never.call();
    const subscribed = new Fixture({ idle: 1000 });
    await subscribed.upstream.subscribe(new Set(['file:a']), new Cancellation());
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect([never.stateKind, subscribed.stateKind]).toEqual(['ready', 'ready']);
    await subscribed.upstream.subscribe(new Set(), new Cancellation());
    await vi.advanceTimersByTimeAsync(2000);
    expect(subscribed.stateKind).toBe('idle');
  });
});

describe('expired session', () => {
  function losingSession(times: number): Fixture {
    const fixture = new Fixture();
    let left = times;
    fixture.script = ({ id, method }, server) => {
      if (method !== 'tools/call' || left-- <= 0) return { did: method };
      queueMicrotask(() => server.fail(Number(id), sessionLostError));
      return undefined;
    };
    return fixture;
  }

  test('expired session: repeats the call once on a new connection', async () => {
    const fixture = losingSession(1);
    await fixture.call('warm-up');
    expect(await fixture.call()).toEqual({ did: 'tools/call' });
    expect(fixture.opens).toBe(2);
    expect(fixture.servers.map(({ methods }) => methods)).toEqual([
      ['warm-up', 'tools/call'],
      ['tools/call'],
    ]);
    expect(fixture.upstream.inFlight).toBe(0);
  });

  test('expired session: repeats the call at most once', async () => {
    const fixture = losingSession(2);
    await fixture.call('warm-up');
    expect(await fixture.failure()).toBeInstanceOf(GatewayError);
    expect(fixture.opens).toBe(2);
  });

  test('expired session: repeats every call that was rejected unread', async () => {
    const fixture = losingSession(3);
    await fixture.call('warm-up');
    const answers = await Promise.all([fixture.call(), fixture.call(), fixture.call()]);
    expect(answers).toEqual(answers.map(() => ({ did: 'tools/call' })));
    expect(fixture.opens).toBe(2);
  });

  test('expired session: lets other running calls finish on the old connection', async () => {
    const fixture = losingSession(1);
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

describe('shutdown', () => {
  test('shutdown: cancels a connection attempt and rejects waiting calls', async () => {
    const fixture = new Fixture();
    fixture.plan = (cancellation) => new Promise((_, reject) => cancellation.onCancel(reject));
    const failure = fixture.failure();
    await fixture.dispose();
    expect(await failure).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(fixture.stateKind).toBe('closed');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('shutdown: closes a server that becomes ready meanwhile', async () => {
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

  test('shutdown: closes the connection and rejects running calls', async () => {
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

  test('shutdown: rejects calls that wait for a retry', async () => {
    const fixture = new Fixture();
    fixture.plan = () => Promise.reject(temporaryError);
    await fixture.failure();
    const failure = fixture.failure();
    await fixture.dispose();
    expect(await failure).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('shutdown: rejects later calls', async () => {
    const fixture = new Fixture();
    await fixture.dispose();
    expect(await fixture.failure()).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(fixture.opens).toBe(0);
  });
});

describe('subscriptions', () => {
  const uris = (...names: readonly string[]): ReadonlySet<string> => new Set(names);

  test('subscriptions: sends only the differences to a legacy server', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris('a', 'b'), new Cancellation());
    await fixture.upstream.subscribe(uris('b', 'c'), new Cancellation());
    expect(sentSubscriptions(fixture.server)).toEqual([
      'subscribe a',
      'subscribe b',
      'subscribe c',
      'unsubscribe a',
    ]);
  });

  test('subscriptions: are restored after a reconnect, which happens without a call', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris('a', 'b'), new Cancellation());
    await fixture.call();
    fixture.server.crash();
    await settle();
    expect(fixture.opens).toBe(2);
    expect(sentSubscriptions(fixture.server)).toEqual(['subscribe a', 'subscribe b']);
  });

  test('subscriptions: deliver updates and list changes', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris('a'), new Cancellation());
    fixture.server.send({ method: 'notifications/resources/updated', params: { uri: 'a' } });
    fixture.server.send({ method: 'notifications/resources/updated' });
    for (const list of ['tools', 'prompts', 'resources'])
      fixture.server.send({ method: `notifications/${list}/list_changed` });
    expect(fixture.updates).toEqual([{ uri: 'a' }]);
    expect(fixture.listChanges).toBe(3);
  });

  test.each(['connected', 'not connected'])(
    'subscriptions: fail when the server refuses them while it was %s',
    async (when) => {
      const fixture = new Fixture();
      if (when === 'connected') await fixture.call();
      fixture.script = ({ method }) =>
        method === 'resources/subscribe' ? { error: { code: -32601, message: 'no' } } : {};
      await expect(fixture.upstream.subscribe(uris('a'), new Cancellation())).rejects.toThrow('no');
      expect(fixture.stateKind).toBe('ready');
    },
  );

  test('subscriptions: wait for a server that starts and are sent once', async () => {
    const fixture = new Fixture();
    fixture.script = silent;
    let isAgreed = false;
    const subscribing = fixture.upstream
      .subscribe(uris('a'), new Cancellation())
      .then(() => (isAgreed = true));
    await settle();
    expect(sentSubscriptions(fixture.server)).toEqual(['subscribe a']);
    expect(isAgreed).toBe(false);
    fixture.server.answer(1, {});
    await subscribing;
  });

  test('subscriptions: are each sent once for concurrent callers during startup', async () => {
    const fixture = new Fixture();
    await Promise.all([
      fixture.upstream.subscribe(uris('a'), new Cancellation()),
      fixture.upstream.subscribe(uris('a', 'b'), new Cancellation()),
    ]);
    expect(sentSubscriptions(fixture.server).toSorted()).toEqual(['subscribe a', 'subscribe b']);
  });

  test('subscriptions: start no server for an empty set', async () => {
    const fixture = new Fixture();
    await fixture.upstream.subscribe(uris(), new Cancellation());
    expect(fixture.opens).toBe(0);
  });

  test('subscriptions: use one listen request on a modern server, replaced on change', async () => {
    const fixture = new Fixture();
    fixture.era = 'modern';
    fixture.script = ({ method }) => (method === 'subscriptions/listen' ? undefined : {});
    await fixture.call();
    expect(sentFilters(fixture.server)).toEqual([{ toolsListChanged: true }]);
    await fixture.upstream.subscribe(uris('a'), new Cancellation());
    await fixture.upstream.subscribe(uris('a'), new Cancellation());
    expect(sentFilters(fixture.server)).toEqual([
      { toolsListChanged: true },
      { toolsListChanged: true, resourceSubscriptions: ['a'] },
    ]);
    expect(fixture.server.last('notifications/cancelled').params).toMatchObject({ requestId: 1 });
    fixture.server.crash();
    await settle();
    expect(fixture.opens).toBe(2);
    expect(sentFilters(fixture.server)).toEqual([{ toolsListChanged: true, resourceSubscriptions: ['a'] }]);
  });

  test('subscriptions: need no request on a modern server without change notifications', async () => {
    const fixture = new Fixture();
    fixture.era = 'modern';
    fixture.capabilities = { tools: {} };
    await fixture.call();
    expect(fixture.server.methods).toEqual(['tools/call']);
  });
});

describe('upstream', () => {
  test('upstream: lists what its server offers', async () => {
    const fixture = new Fixture();
    fixture.script = ({ method }) =>
      method === 'tools/list' ? { tools: [{ name: 'a' }] } : { resources: [] };
    expect(await fixture.upstream.list(new Cancellation())).toMatchObject({
      tools: [{ name: 'a' }],
      isCut: false,
    });
  });

  test('upstream: survives random sequences of events and closes without leaks', async () => {
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
          unexpected: [],
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

/** Drives an upstream by named steps and records unexpected errors. */
class Story {
  readonly #fixture = new Fixture({ timeouts: { connectMs: 5000, callMs: 1 } });
  readonly #cancellations: Cancellation[] = [];
  readonly #outcomes: Promise<unknown>[] = [];
  readonly #unexpected: unknown[] = [];

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
        for (const { id, method } of server?.received ?? []) if (method !== undefined) server?.answer(id, {});
        break;
      case 'forget':
        server?.fail(Number(server.received.at(-1)?.id), sessionLostError);
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
      unexpected: this.#unexpected,
      timers: vi.getTimerCount(),
      inFlight: upstream.inFlight,
      closes: this.servers.map(({ closes }) => closes),
      state: states.at(-1),
    };
  }

  #begin(work: (cancellation: Cancellation) => Promise<unknown>): Cancellation {
    const cancellation = new Cancellation();
    const outcome = work(cancellation).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code === 'INVARIANT') this.#unexpected.push(error);
    });
    this.#outcomes.push(outcome);
    return cancellation;
  }
}

const plans: Readonly<Record<string, Plan>> = {
  succeed: () => Promise.resolve(),
  refuse: () => Promise.reject(temporaryError),
  fail: () => Promise.reject(permanentError),
  hang: (cancellation) => new Promise((_, reject) => cancellation.onCancel(reject)),
};

/** Runs all pending microtasks and timers that are due now. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

function sentSubscriptions(server: MemoryServer): readonly string[] {
  return server.received.flatMap(({ method, params }) => {
    const [, verb] = /^resources\/(subscribe|unsubscribe)$/.exec(method ?? '') ?? [];
    return verb === undefined ? [] : [`${verb} ${String(params?.['uri'])}`];
  });
}

function sentFilters(server: MemoryServer): readonly unknown[] {
  return server.received
    .filter(({ method }) => method === 'subscriptions/listen')
    .map(({ params }) => params?.['notifications']);
}
