import { randomBytes } from 'node:crypto';

import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { refusal } from '../../../test/support/sign-in.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { deferred } from '../../lib/deferred.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import { renewTokens } from './renew-tokens.ts';
import type { StoredTokens } from './stored-tokens.ts';
import {
  OneTimeTokens,
  openVault,
  tokens as renewable,
  place as theirs,
  url as theirUrl,
} from './token-vault.test-support.ts';
import { TokenVault } from './token-vault.ts';
import { UpstreamCredentials } from './upstream-credentials.ts';

afterEach(() => void vi.restoreAllMocks());

const url = 'https://it.example.com/mcp';
const place = { upstream: 'it' as UpstreamName, caller: '' };
const tokens = (accessToken: string): StoredTokens => ({ accessToken, url, obtainedAt: 0, flow: 'browser' });

eachEngine((_engine, newStore) => {
  test('where others tell what they save, a call asks nobody, and the next one knows', async () => {
    const database = await openDatabase(await newStore(temporaryFolder('credentials')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const secret = randomBytes(32);
    let asked = 0;
    const vaultOf = (isFollowed: boolean): TokenVault =>
      new TokenVault({
        database: () => {
          asked++;
          return Promise.resolve(database);
        },
        key: { get: () => Promise.resolve(secret), has: () => true },
        ...{ pid: process.pid, now: Date.now, log: silentLogger, isFollowed },
      });
    const [own, elsewhere] = [vaultOf(true), vaultOf(false)];
    await elsewhere.save(place, tokens('first'));
    const credentials = new UpstreamCredentials({
      ...{ place, vault: own, url: () => Promise.resolve(url), seed: undefined, acquire: undefined },
      ...{ renew: () => Promise.reject(new Error('Nobody renews.')), now: Date.now, log: silentLogger },
    });
    onTestFinished(() => credentials[Symbol.dispose]());
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer first' });
    const before = asked;
    // However much later.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    expect(credentials.headers()).toEqual({ Authorization: 'Bearer first' });
    expect(asked).toBe(before);
    await elsewhere.save(place, tokens('second'));
    await own.look();
    vi.restoreAllMocks();
    await eventually(() => expect(credentials.headers()).toEqual({ Authorization: 'Bearer second' }));
  });

  test('a token that another process saved and that is over as well is renewed, once', async () => {
    const database = await openDatabase(await newStore(temporaryFolder('credentials')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const vault = new TokenVault({
      database: () => Promise.resolve(database),
      key: { get: async () => Buffer.alloc(32, 1), has: () => true },
      ...{ pid: process.pid, now: Date.now, log: silentLogger },
    });
    // By a clock that was set back since, so that neither of them looks as if it were over.
    const lasting = { obtainedAt: Date.now(), expiresAt: Date.now() + 1e9, refreshToken: 'r' };
    await vault.save(place, { ...tokens('first'), ...lasting });
    const renewedFrom: string[] = [];
    const credentials = new UpstreamCredentials({
      ...{ place, vault, url: () => Promise.resolve(url), seed: undefined, acquire: undefined },
      renew: async (stale) => {
        renewedFrom.push(stale.accessToken);
        return { ...stale, accessToken: 'third' };
      },
      ...{ now: Date.now, log: silentLogger },
    });
    onTestFinished(() => credentials[Symbol.dispose]());
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer first' });
    await vault.save(place, { ...tokens('second'), ...lasting });
    expect(await credentials.refused(refusal())).toBe('try-again');
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer second' });
    expect(await credentials.refused(refusal({ isRepeated: true }))).toBe('try-again');
    expect(await credentials.headers()).toEqual({ Authorization: 'Bearer third' });
    expect(await credentials.refused(refusal({ isRepeated: true, isLast: true }))).toMatchObject({
      code: 'UPSTREAM_NEEDS_AUTH',
    });
    expect(renewedFrom).toEqual(['second']);
  });

  test.each([
    ['in as somebody else', 'in', { Authorization: 'Bearer somebody' }],
    ['out', 'out', {}],
  ] as const)('who signs %s during a renewal is heeded at once', async (_what, way, expected) => {
    const vault = await openVault(await newStore(temporaryFolder('credentials')), { isFollowed: true });
    const server = new OneTimeTokens();
    const { fetch } = server;
    const ending = { obtainedAt: Date.now() - 900_000, expiresAt: Date.now() + 100_000 };
    await vault.save(theirs, renewable('first', ending));
    const renewing: Promise<unknown>[] = [];
    const credentials = new UpstreamCredentials({
      ...{ place: theirs, vault, url: () => Promise.resolve(theirUrl), seed: undefined, acquire: undefined },
      renew: (stale, signal) => {
        const deps = { vault, place: theirs, fetch, now: Date.now, log: silentLogger, signal };
        const renewed = renewTokens(stale, deps);
        renewing.push(renewed);
        return renewed;
      },
      ...{ now: Date.now, log: silentLogger },
    });
    onTestFinished(() => credentials[Symbol.dispose]());
    server.meanwhile = async () => {
      await (way === 'in' ? vault.save(theirs, renewable('somebody')) : vault.forget(theirs));
      await vault.look();
    };
    await credentials.headers();
    await Promise.allSettled(renewing);
    await eventually(async () => expect(await credentials.headers()).toEqual(expected));
    expect(renewing).toHaveLength(1);
  });

  test('what is disposed of during a renewal rests afterwards', async () => {
    const vault = await openVault(await newStore(temporaryFolder('credentials')));
    const ending = { obtainedAt: Date.now() - 900, expiresAt: Date.now() + 100 };
    await vault.save(theirs, renewable('first', ending));
    const warn = vi.fn();
    const begun = deferred<StoredTokens>();
    const renew = vi.fn(() => begun.promise);
    const credentials = new UpstreamCredentials({
      ...{ place: theirs, vault, url: () => Promise.resolve(theirUrl), seed: undefined, acquire: undefined },
      ...{ renew, now: Date.now, log: { ...silentLogger, warn } },
    });
    await credentials.headers();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    credentials[Symbol.dispose]();
    begun.resolve(renewable('second', ending));
    await begun.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(renew).toHaveBeenCalledTimes(1);
    expect(timers).not.toHaveBeenCalled();
    expect(warn).not.toHaveBeenCalled();
  });
});
