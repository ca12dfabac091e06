import { expect, test, vi } from 'vitest';

import { MemoryOthers } from '../../../test/support/memory-others.ts';
import { Subscriptions } from '../../gateway/calls/subscriptions.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { MirroredSubscriptions } from './mirrored-subscriptions.ts';

const files = { name: 'files' as UpstreamName, signedInAs: '' };
const remote = { name: 'remote' as UpstreamName, signedInAs: '' };

/** Gateways, each with a process of its own of one server, and another server that is one for all. */
function gateways() {
  const others = new MemoryOthers('aaaaaaaa', 'bbbbbbbb', 'cccccccc');
  const make = (self: string) => {
    const followed: string[][] = [];
    const mirrored = new MirroredSubscriptions({
      others: others.as(self),
      onChange: (listener) => others.onChange(listener),
      isOwnProcess: (name) => name === 'files',
    });
    const upstream = { subscribe: async (uris: ReadonlySet<string>) => void followed.push([...uris]) };
    return { subscriptions: new Subscriptions(() => upstream, mirrored), followed };
  };
  return { others, a: make('aaaaaaaa'), b: make('bbbbbbbb'), c: make('cccccccc') };
}

test('what the process of one gateway notices is told once to who listens at others', async () => {
  const { a, b, c } = gateways();
  const heard: string[] = [];
  await a.subscriptions.add(files, 'x:1', () => heard.push('a'));
  await b.subscriptions.add(files, 'x:1', () => heard.push('b'));
  // By the time that somebody is told of the subscription, everybody follows.
  expect([a, b, c].map(({ followed }) => followed.at(-1))).toEqual([['x:1'], ['x:1'], ['x:1']]);
  c.subscriptions.updated(files, { uri: 'x:1' });
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['a', 'b']));
  a.subscriptions.updated(files, { uri: 'x:1' });
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['a', 'a', 'b', 'b']));
});

test('a server that is one for all is followed by each gateway for itself', async () => {
  const { a, b } = gateways();
  await a.subscriptions.add(remote, 'x:1', () => {});
  expect([a.followed, b.followed]).toEqual([[['x:1']], []]);
});

test('nothing is followed for who no longer listens, or is gone; and who is new follows', async () => {
  const { others, a, b, c } = gateways();
  others.set('cccccccc', false);
  const first = await a.subscriptions.add(files, 'x:1', () => {});
  const second = await a.subscriptions.add(files, 'x:2', () => {});
  first[Symbol.dispose]();
  await vi.waitFor(() => expect(b.followed.at(-1)).toEqual(['x:2']));
  expect(c.followed).toEqual([]);
  others.set('cccccccc', true);
  await vi.waitFor(() => expect(c.followed.at(-1)).toEqual(['x:2']));
  others.set('aaaaaaaa', false);
  await vi.waitFor(() => expect([b.followed.at(-1), c.followed.at(-1)]).toEqual([[], []]));
  second[Symbol.dispose]();
});
