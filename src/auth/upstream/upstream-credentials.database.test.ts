import { randomBytes } from 'node:crypto';

import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { rejectedRequest } from '../../../test/support/sign-in.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { deferred } from '../../core/lib/deferred.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { silentLogger } from '../../observability/log.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { refreshTokens } from './refresh-tokens.ts';
import type { StoredTokens } from './stored-tokens.ts';
import {
  OneTimeTokens,
  openVault,
  tokens as refreshableTokens,
  signInId as sharedId,
  url as sharedUrl,
} from './token-vault.test-support.ts';
import { TokenVault } from './token-vault.ts';
import { UpstreamCredentials } from './upstream-credentials.ts';

afterEach(() => void vi.restoreAllMocks());

const url = 'https://it.example.com/mcp';
const signInId = { upstream: 'it' as UpstreamName, caller: '' };
const tokens = (accessToken: string): StoredTokens => ({ accessToken, url, obtainedAt: 0, flow: 'browser' });

/** Timers of the database are shorter. */
const MIN_REFRESH_DELAY_MS = 100_000;

/** The sign-in whose tokens `refreshableTokens` returns. */
const refreshable = { signInId: sharedId, url: () => Promise.resolve(sharedUrl) };

type CredentialsDeps = ConstructorParameters<typeof UpstreamCredentials>[0];

function createCredentials(
  deps: Pick<CredentialsDeps, 'vault'> & Partial<CredentialsDeps>,
): UpstreamCredentials {
  const credentials = new UpstreamCredentials({
    signInId,
    url: () => Promise.resolve(url),
    seed: undefined,
    acquire: undefined,
    refresh: () => Promise.reject(new Error('No refresh is expected.')),
    now: Date.now,
    log: silentLogger,
    ...deps,
  });
  onTestFinished(() => credentials[Symbol.dispose]());
  return credentials;
}

eachEngine((_engine, newStore) => {
  test('upstream credentials: use cached tokens without a query and follow tokens saved elsewhere', async () => {
    const database = await openDatabase(await newStore(temporaryFolder('credentials')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const secret = randomBytes(32);
    let queries = 0;
    const openOwnVault = (hasChangeNotifications: boolean): TokenVault =>
      new TokenVault({
        database: () => {
          queries++;
          return Promise.resolve(database);
        },
        key: { get: () => Promise.resolve(secret), has: () => true },
        pid: process.pid,
        now: Date.now,
        log: silentLogger,
        hasChangeNotifications,
      });
    const [own, elsewhere] = [openOwnVault(true), openOwnVault(false)];
    await elsewhere.save(signInId, tokens('first'));
    const credentials = createCredentials({ vault: own });
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer first' });
    const before = queries;
    // An hour later.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    expect(credentials.headers()).toEqual({ Authorization: 'Bearer first' });
    expect(queries).toBe(before);
    await elsewhere.save(signInId, tokens('second'));
    await own.handleExternalChange();
    vi.restoreAllMocks();
    await eventually(() => expect(credentials.headers()).toEqual({ Authorization: 'Bearer second' }));
  });

  test('upstream credentials: refresh once when the tokens another process saved are refused as well', async () => {
    const database = await openDatabase(await newStore(temporaryFolder('credentials')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const vault = new TokenVault({
      database: () => Promise.resolve(database),
      key: { get: async () => Buffer.alloc(32, 1), has: () => true },
      pid: process.pid,
      now: Date.now,
      log: silentLogger,
    });
    // The clock was set back since, so neither token looks expired.
    const lasting = { obtainedAt: Date.now(), expiresAt: Date.now() + 1e9, refreshToken: 'r' };
    await vault.save(signInId, { ...tokens('first'), ...lasting });
    const refreshed: string[] = [];
    const credentials = createCredentials({
      vault,
      refresh: async (stale) => {
        refreshed.push(stale.accessToken);
        return { ...stale, accessToken: 'third' };
      },
    });
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer first' });
    await vault.save(signInId, { ...tokens('second'), ...lasting });
    expect(await credentials.handleRefusal(rejectedRequest())).toBe('try-again');
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer second' });
    expect(await credentials.handleRefusal(rejectedRequest({ isRepeated: true }))).toBe('try-again');
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer third' });
    expect(
      await credentials.handleRefusal(rejectedRequest({ isRepeated: true, isLast: true })),
    ).toMatchObject({
      code: 'UPSTREAM_NEEDS_AUTH',
    });
    expect(refreshed).toEqual(['second']);
  });

  test.each([
    ['in as another account', 'in', { Authorization: 'Bearer somebody' }],
    ['out', 'out', {}],
  ] as const)('upstream credentials: apply a sign-%s during a refresh', async (_what, way, expected) => {
    const vault = await openVault(await newStore(temporaryFolder('credentials')), {
      hasChangeNotifications: true,
    });
    const server = new OneTimeTokens();
    const { fetch } = server;
    const ending = { obtainedAt: Date.now() - 900_000, expiresAt: Date.now() + 100_000 };
    await vault.save(sharedId, refreshableTokens('first', ending));
    const refreshes: Promise<unknown>[] = [];
    const credentials = createCredentials({
      vault,
      ...refreshable,
      refresh: (stale, signal) => {
        const deps = { vault, signInId: sharedId, fetch, now: Date.now, log: silentLogger, signal };
        const refresh = refreshTokens(stale, deps);
        refreshes.push(refresh);
        return refresh;
      },
    });
    server.meanwhile = async () => {
      await (way === 'in' ? vault.save(sharedId, refreshableTokens('somebody')) : vault.remove(sharedId));
      await vault.handleExternalChange();
    };
    await credentials.headers();
    await Promise.allSettled(refreshes);
    await eventually(async () => expect(await credentials.headers()).toEqual(expected));
    expect(refreshes).toHaveLength(1);
  });

  test('upstream credentials: refresh without a call although the timer fires early', async () => {
    const vault = await openVault(await newStore(temporaryFolder('credentials')));
    let now = Date.now();
    const lifetime = { obtainedAt: now - 1_000_000, expiresAt: now + 1_000_000 };
    await vault.save(sharedId, refreshableTokens('first', lifetime));
    const refresh = vi.fn(() => new Promise<StoredTokens>(() => {}));
    const credentials = createCredentials({ vault, ...refreshable, refresh, now: () => now });
    const { setTimeout: realTimeout } = globalThis;
    const delays: number[] = [];
    // The first refresh timer fires when half of its time has passed, the next ones when all of it has.
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, ms = 0) => {
      if (ms < MIN_REFRESH_DELAY_MS) return realTimeout(run, ms);
      now += delays.length === 0 ? Math.floor(ms / 2) : ms;
      delays.push(ms);
      return realTimeout(run, 0);
    });
    await credentials.headers();
    await eventually(() => expect(refresh).toHaveBeenCalledTimes(1));
    expect(delays.length).toBeGreaterThan(1);
  });

  test('upstream credentials: stop refreshing and set no timer after dispose', async () => {
    const vault = await openVault(await newStore(temporaryFolder('credentials')));
    const ending = { obtainedAt: Date.now() - 900_000, expiresAt: Date.now() + 100_000 };
    await vault.save(sharedId, refreshableTokens('first', ending));
    const warn = vi.fn();
    const response = deferred<StoredTokens>();
    const refresh = vi.fn(() => response.promise);
    const credentials = createCredentials({
      vault,
      ...refreshable,
      refresh,
      log: { ...silentLogger, warn },
    });
    await credentials.headers();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    credentials[Symbol.dispose]();
    response.resolve(refreshableTokens('second', ending));
    await response.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(refresh).toHaveBeenCalledTimes(1);
    const delays = timers.mock.calls.map(([, ms]) => ms ?? 0);
    // Other tests of this process may set short timers meanwhile.
    expect(delays.filter((ms) => ms >= 1_000)).toEqual([]);
    expect(warn).not.toHaveBeenCalled();
  });
});
