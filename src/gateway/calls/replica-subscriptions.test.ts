import { expect, test, vi } from 'vitest';

import { MemoryReplicas } from '../../../test/support/memory-replicas.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { ReplicaSubscriptions } from './replica-subscriptions.ts';

const files = { name: 'files' as UpstreamName, signedInAs: '' };
const remote = { name: 'remote' as UpstreamName, signedInAs: '' };

/** Creates three replicas: `files` runs a process at each of them, `remote` is shared by all. */
function gateways() {
  const replicas = new MemoryReplicas('aaaaaaaa', 'bbbbbbbb', 'cccccccc');
  const make = (self: string) => {
    const followed: string[][] = [];
    const mirrored = new ReplicaSubscriptions({
      replicas: replicas.as(self),
      onReplicasChanged: (listener) => replicas.onChange(listener),
      hasOwnProcess: (name) => name === 'files',
    });
    const upstream = { subscribe: async (uris: ReadonlySet<string>) => void followed.push([...uris]) };
    return { subscriptions: new ResourceSubscriptions(() => upstream, mirrored), followed };
  };
  return { replicas, a: make('aaaaaaaa'), b: make('bbbbbbbb'), c: make('cccccccc') };
}

test("subscription mirror: delivers an update from any replica's process once to every subscriber", async () => {
  const { a, b, c } = gateways();
  const heard: string[] = [];
  await a.subscriptions.add(files, 'x:1', () => heard.push('a'));
  await b.subscriptions.add(files, 'x:1', () => heard.push('b'));
  // Every replica is subscribed before `add` resolves.
  expect([a, b, c].map(({ followed }) => followed.at(-1))).toEqual([['x:1'], ['x:1'], ['x:1']]);
  c.subscriptions.notify(files, { uri: 'x:1' });
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['a', 'b']));
  a.subscriptions.notify(files, { uri: 'x:1' });
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['a', 'a', 'b', 'b']));
});

test('subscription mirror: does nothing for a server that all replicas share', async () => {
  const { a, b } = gateways();
  await a.subscriptions.add(remote, 'x:1', () => {});
  expect([a.followed, b.followed]).toEqual([[['x:1']], []]);
});

test('subscription mirror: follows subscribers and replicas that come and go', async () => {
  const { replicas, a, b, c } = gateways();
  replicas.set('cccccccc', false);
  const first = await a.subscriptions.add(files, 'x:1', () => {});
  const second = await a.subscriptions.add(files, 'x:2', () => {});
  first[Symbol.dispose]();
  await vi.waitFor(() => expect(b.followed.at(-1)).toEqual(['x:2']));
  expect(c.followed).toEqual([]);
  replicas.set('cccccccc', true);
  await vi.waitFor(() => expect(c.followed.at(-1)).toEqual(['x:2']));
  replicas.set('aaaaaaaa', false);
  await vi.waitFor(() => expect([b.followed.at(-1), c.followed.at(-1)]).toEqual([[], []]));
  second[Symbol.dispose]();
});
