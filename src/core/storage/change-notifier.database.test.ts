import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import type { StoreLocation } from './store-location.ts';

eachEngine((engine, newStore) => {
  const open = async (place: StoreLocation): Promise<Database> => {
    const database = await openDatabase({ ...place, pollIntervalMs: 20 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  };
  const listening = ({ changes }: Database): string[] => {
    const heard: string[] = [];
    changes.on('keys', () => heard.push('keys'));
    changes.on('approvals', () => heard.push('approvals'));
    return heard;
  };

  test('change notification: reports a change by another connection under its topic', async () => {
    const place = await newStore(temporaryFolder('changes'));
    const [one, other] = [await open(place), await open(place)];
    const heard = listening(one);
    await other.query.transaction().execute((transaction) => other.changes.announce(transaction, 'keys'));
    await eventually(() => expect(heard).toEqual(['keys']));
    await other.query
      .transaction()
      .execute((transaction) => other.changes.announce(transaction, 'approvals'));
    await eventually(() => expect(heard).toEqual(['keys', 'approvals']));
  });

  test('change notification: omits a change that was rolled back', async () => {
    const place = await newStore(temporaryFolder('changes'));
    const [one, other] = [await open(place), await open(place)];
    const heard = listening(one);
    const failed = other.query.transaction().execute(async (transaction) => {
      await other.changes.announce(transaction, 'keys');
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await other.query
      .transaction()
      .execute((transaction) => other.changes.announce(transaction, 'approvals'));
    await eventually(() => expect(heard).toEqual(['approvals']));
  });

  test('change notification: stops after the listener is disposed', async () => {
    const place = await newStore(temporaryFolder('changes'));
    const [one, other] = [await open(place), await open(place)];
    const heard = listening(one);
    const stopped: string[] = [];
    one.changes.on('keys', () => stopped.push('keys'))[Symbol.dispose]();
    await other.query.transaction().execute((transaction) => other.changes.announce(transaction, 'keys'));
    await eventually(() => expect(heard).toEqual(['keys']));
    expect(stopped).toEqual([]);
  });

  test.runIf(engine === 'postgres')(
    'change notification: delivers changes missed while the connection was down',
    async () => {
      const place = await newStore(temporaryFolder('changes'));
      await using proxy = await startTcpProxy();
      const { port } = new URL(proxy.forwardTo(place.server!.url));
      const cut = { ...place.server!, url: place.server!.url.replace(/:\d+\//, `:${port}/`) };
      const [one, other] = [await open({ ...place, server: cut }), await open(place)];
      const heard = listening(one);
      await other.query.transaction().execute((transaction) => other.changes.announce(transaction, 'keys'));
      await eventually(() => expect(heard).toEqual(['keys']));
      proxy.forwardTo('http://127.0.0.1:1');
      proxy.cut();
      await other.query.transaction().execute((transaction) => other.changes.announce(transaction, 'keys'));
      expect(heard).toEqual(['keys']);
      proxy.forwardTo(place.server!.url);
      await eventually(() => expect(heard.slice(1)).toContain('keys'));
    },
  );
});
