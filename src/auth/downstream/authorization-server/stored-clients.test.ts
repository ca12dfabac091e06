import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../../test/support/test-run.ts';
import { openDatabase } from '../../../storage/database.ts';
import { Clients } from './clients.ts';
import { Grants } from './grants.ts';

const config = {
  ...{ accessTokenMs: 1000, refreshTokenMs: 10_000, registration: true, maxClients: 2 },
  ...{ metadataDocuments: false, allowPrivate: false },
};

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const database = await openDatabase(await newStore(temporaryFolder('clients')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const clock = { now: 1000 };
    const deps = { config, database: () => Promise.resolve(database), now: () => clock.now };
    const fetchDocument = () => Promise.reject(new Error('Nobody fetches.'));
    return { clock, clients: new Clients({ ...deps, fetchDocument }), grants: new Grants(deps) };
  };
  const asked = { redirect_uris: ['http://127.0.0.1/cb'], client_name: 'It' };

  test('a client that somebody agreed to outlives those that only registered', async () => {
    const { clients, clock } = await opened();
    const register = async (): Promise<string> => {
      clock.now++;
      const made = await clients.register(asked);
      return typeof made === 'object' ? made.id : `not registered: ${made}`;
    };
    const agreed = await register();
    await clients.noteConsent(agreed);
    const first = await register();
    const second = await register();
    expect(await clients.find(agreed)).toMatchObject({ id: agreed });
    expect(await clients.find(first)).toBe('There is no such client.');
    expect(await clients.find(second)).toMatchObject({ id: second });
  });

  test('a refresh token is good once, and its second use ends the family', async () => {
    const { grants } = await opened();
    const { tokens } = await grants.add({ client: 'c', key: 'k', resource: '' });
    expect(await grants.ofAccess(tokens.access)).toMatchObject({ until: 2000 });
    const next = await grants.refresh(tokens.refresh, 'c');
    expect(next).toMatchObject({ expiresInSeconds: 1 });
    expect(await grants.refresh(tokens.refresh, 'c')).toHaveProperty('reused');
    expect(await grants.ofAccess(tokens.access)).toBeUndefined();
  });
});
