import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import { keyFile } from './sealing/secret-key.ts';
import { TokenVault } from './token-vault.ts';

const place = { upstream: 'tickets' as UpstreamName, caller: '' };
const tokens = (accessToken: string) => ({
  ...{ url: 'https://tickets.example.com/mcp', accessToken, obtainedAt: 1, flow: 'pasted' as const },
});

eachEngine((_engine, newStore) => {
  const open = async (where: StorePlace): Promise<TokenVault> => {
    const database = await openDatabase(where);
    onTestFinished(() => database[Symbol.asyncDispose]());
    return new TokenVault({
      database: () => Promise.resolve(database),
      key: keyFile(join(where.stateDir, 'secret.key')),
      ...{ pid: process.pid, now: Date.now, log: silentLogger },
    });
  };

  test('what one process saves another one with the same key loads, until it is forgotten', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const [one, other] = [await open(where), await open(where)];
    await one.save(place, tokens('a'));
    await one.save(place, tokens('b'));
    await one.save({ ...place, caller: 'anna' }, tokens('c'));
    expect(await other.load(place)).toEqual(tokens('b'));
    expect([...(await other.savedAt([place.upstream])).keys()]).toHaveLength(2);
    expect(await other.places()).toHaveLength(2);
    await other.forget(place);
    expect(await one.load(place)).toBeUndefined();
    expect(await one.load({ ...place, caller: 'anna' })).toEqual(tokens('c'));
  });

  test('clients and notes are kept beside', async () => {
    const vault = await open(await newStore(temporaryFolder('vault')));
    const client = { client: { clientId: 'x', method: 'none' } as never, redirectUri: 'http://127.0.0.1/cb' };
    await vault.saveClient('https://login', place.upstream, client);
    await vault.saveClient('https://login', place.upstream, client);
    expect(await vault.loadClient('https://login', place.upstream)).toEqual(client);
    await vault.forgetClient('https://login', place.upstream);
    expect(await vault.loadClient('https://login', place.upstream)).toBeUndefined();
    await vault.note(place, { challenge: 'x' } as never);
    expect(await vault.noted(place)).toMatchObject({ challenge: 'x' });
    await vault.note(place, undefined);
    expect(await vault.noted(place)).toBeUndefined();
  });

  test('one at a time renews, and the next finds what the one before saved', async () => {
    const where = await newStore(temporaryFolder('vault'));
    const vaults = [await open(where), await open(where)];
    await vaults[0]!.save(place, tokens('0'));
    const renew = (vault: TokenVault) =>
      vault.refreshing(
        place,
        async (current) => vault.save(place, tokens(`${Number(current?.accessToken) + 1}`)),
        new AbortController().signal,
      );
    await Promise.all([...vaults, ...vaults, ...vaults].map(renew));
    expect((await vaults[0]!.load(place))?.accessToken).toBe('6');
  });
});
