import { expect, test } from 'vitest';

import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Judgement } from '../model/held.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import { Catalog } from './catalog.ts';
import { readListing } from './listing.ts';
import type { Listing } from './listing.ts';

const one = 'one' as UpstreamName;
const config = 'c' as Fingerprint;
const nothing: Judgement = { basis: 'b', tools: [], prompts: [] };
const holding = (...names: readonly string[]): Judgement => ({
  ...nothing,
  tools: names.map((name) => [name, 'changed'] as const),
});

function listing(tools: readonly string[], at: number): Listing {
  const raw = {
    facts: { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {} },
    tools: tools.map((name) => ({ name })),
    ...{ prompts: [], resources: [], templates: [] },
  };
  return readListing(raw, { upstream: one, config, at }).listing;
}

function setUp() {
  let judgement: () => Promise<Judgement> = () => Promise.resolve(nothing);
  let offered = listing(['a', 'b'], 1);
  let judged = 0;
  const saved: Listing[] = [];
  const changes: string[][] = [];
  const catalog = new Catalog({
    source: { list: () => Promise.resolve(offered) },
    judge: {
      basis: () => 'b',
      judge: () => {
        judged++;
        return judgement();
      },
    },
    cache: {
      ...{ events: new Emitter(), restore: () => Promise.resolve([]), keep: () => {} },
      save: (each) => void saved.push(each),
    },
    ...{ separator: '__', allows: () => true, now: Date.now },
  });
  catalog.apply([{ name: one, fingerprint: config }]);
  catalog.events.on('changed', ({ after }) => changes.push([...after.tools.keys()]));
  return {
    ...{ catalog, saved, changes },
    judge: (next: () => Promise<Judgement>) => (judgement = next),
    offer: (next: Listing) => (offered = next),
    refresh: () => catalog.refresh(one, new Cancellation()),
    judged: () => judged,
  };
}

test('what is judged anew is shown, kept for the next start and announced once', async () => {
  const { catalog, judge, refresh, saved, changes } = setUp();
  await refresh();
  judge(() => Promise.resolve(holding('a')));
  await catalog.judgeAgain();
  expect(changes).toEqual([['one__a', 'one__b'], ['one__b']]);
  expect(saved.at(-1)?.judged).toEqual(holding('a'));
  expect([...catalog.current.held.tools.keys()]).toEqual(['one__a']);
  const { length } = saved;
  await catalog.judgeAgain([one]);
  expect(changes).toHaveLength(2);
  expect(saved).toHaveLength(length);
  judge(() => Promise.resolve(nothing));
  await catalog.judgeAgain([one]);
  expect(changes.at(-1)).toEqual(['one__a', 'one__b']);
});

test('a judgement about a list that was replaced meanwhile is dropped', async () => {
  const { catalog, judge, offer, refresh } = setUp();
  await refresh();
  const late = deferred<Judgement>();
  judge(() => late.promise);
  const again = catalog.judgeAgain();
  judge(() => Promise.resolve(holding('c')));
  offer(listing(['b', 'c'], 2));
  await refresh();
  late.resolve(holding('b'));
  await again;
  expect([...catalog.current.tools.keys()]).toEqual(['one__b']);
  expect(catalog.listing(one)?.judged).toEqual(holding('c'));
});

test('a list that was never read is not judged, and the same list not twice', async () => {
  const { catalog, refresh, judged } = setUp();
  await catalog.judgeAgain();
  expect(judged()).toBe(0);
  await refresh();
  await refresh();
  expect(judged()).toBe(1);
});

test('a judge that fails leaves what was shown, and shows nothing new', async () => {
  const { catalog, judge, offer, refresh } = setUp();
  await refresh();
  judge(() => Promise.reject(new Error('no judge')));
  await expect(catalog.judgeAgain()).rejects.toThrow('no judge');
  offer(listing(['a', 'b', 'c'], 2));
  await expect(refresh()).rejects.toThrow('no judge');
  expect([...catalog.current.tools.keys()]).toEqual(['one__a', 'one__b']);
});
