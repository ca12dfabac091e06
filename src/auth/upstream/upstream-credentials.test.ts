import { randomBytes } from 'node:crypto';

import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { refusal } from '../../../test/support/sign-in.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import type { StoredTokens } from './stored-tokens.ts';
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
});
