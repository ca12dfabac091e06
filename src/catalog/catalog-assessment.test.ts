import { expect, test } from 'vitest';

import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { HoldAssessment } from '../core/held.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { Catalog } from './catalog.ts';
import { readListing } from './listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { Listing } from './listing.ts';

const one = 'one' as UpstreamName;
const config = 'c' as Fingerprint;
const nothing: HoldAssessment = { basis: 'b', tools: [], prompts: [] };
const holding = (...names: readonly string[]): HoldAssessment => ({
  ...nothing,
  tools: names.map((name) => [name, 'changed'] as const),
});

function listing(tools: readonly string[], at: number): Listing {
  const raw = {
    facts: { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {} },
    tools: tools.map((name) => ({ name })),
    prompts: [],
    resources: [],
    templates: [],
  };
  return completeAtOnce(readListing(raw, { upstream: one, config, at })).listing;
}

function setUp() {
  let judgement: () => Promise<HoldAssessment> = () => Promise.resolve(nothing);
  let offered = listing(['a', 'b'], 1);
  let judged = 0;
  let turn = 0;
  let judgedInTurn: number | undefined;
  let mergedInTurn: number | undefined;
  const saved: Listing[] = [];
  const changes: string[][] = [];
  const catalog = new Catalog({
    source: { list: () => Promise.resolve(offered) },
    assessor: {
      basis: () => 'b',
      assess: () => {
        judged++;
        judgedInTurn = turn;
        setImmediate(() => turn++);
        return judgement();
      },
    },
    cache: {
      events: new Emitter(),
      restore: () => Promise.resolve([]),
      retain: () => {},
      save: (each) => void saved.push(each),
    },
    separator: '__',
    allows: () => {
      mergedInTurn ??= turn;
      return true;
    },
    now: Date.now,
  });
  catalog.apply([{ name: one, fingerprint: config }]);
  catalog.events.on('changed', ({ after }) => changes.push([...after.tools.keys()]));
  return {
    catalog,
    saved,
    changes,
    judge: (next: () => Promise<HoldAssessment>) => (judgement = next),
    offer: (next: Listing) => (offered = next),
    refresh: () => catalog.refresh(one, new Cancellation()),
    judged: () => judged,
    turns: () => ({ judgedInTurn, mergedInTurn }),
  };
}

test('quarantine: merges a new listing in a later turn of the event loop than it is judged', async () => {
  const { refresh, turns } = setUp();
  await refresh();
  expect(turns()).toEqual({ judgedInTurn: 0, mergedInTurn: 1 });
});

test('quarantine: hides a tool after a new judgement, saves it and announces it once', async () => {
  const { catalog, judge, refresh, saved, changes } = setUp();
  await refresh();
  judge(() => Promise.resolve(holding('a')));
  await catalog.reassess();
  expect(changes).toEqual([['one__a', 'one__b'], ['one__b']]);
  expect(saved.at(-1)?.judged).toEqual(holding('a'));
  expect([...catalog.current.held.tools.keys()]).toEqual(['one__a']);
  const { length } = saved;
  await catalog.reassess([one]);
  expect(changes).toHaveLength(2);
  expect(saved).toHaveLength(length);
  judge(() => Promise.resolve(nothing));
  await catalog.reassess([one]);
  expect(changes.at(-1)).toEqual(['one__a', 'one__b']);
});

test('quarantine: drops a judgement about a listing that was replaced meanwhile', async () => {
  const { catalog, judge, offer, refresh } = setUp();
  await refresh();
  const late = deferred<HoldAssessment>();
  judge(() => late.promise);
  const again = catalog.reassess();
  judge(() => Promise.resolve(holding('c')));
  offer(listing(['b', 'c'], 2));
  await refresh();
  late.resolve(holding('b'));
  await again;
  expect([...catalog.current.tools.keys()]).toEqual(['one__b']);
  expect(catalog.listing(one)?.judged).toEqual(holding('c'));
});

test('quarantine: judges no listing before it is read and none twice', async () => {
  const { catalog, refresh, judged } = setUp();
  await catalog.reassess();
  expect(judged()).toBe(0);
  await refresh();
  await refresh();
  expect(judged()).toBe(1);
});

test('quarantine: shows no new tool and keeps the current ones when judging fails', async () => {
  const { catalog, judge, offer, refresh } = setUp();
  await refresh();
  judge(() => Promise.reject(new Error('no judge')));
  await expect(catalog.reassess()).rejects.toThrow('no judge');
  offer(listing(['a', 'b', 'c'], 2));
  await expect(refresh()).rejects.toThrow('no judge');
  expect([...catalog.current.tools.keys()]).toEqual(['one__a', 'one__b']);
});
