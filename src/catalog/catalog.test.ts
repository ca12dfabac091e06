import { describe, expect, test } from 'vitest';

import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { Deferred } from '../core/lib/deferred.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { Catalog } from './catalog.ts';
import type { UpstreamIdentity } from './listing-cache.ts';
import { readListing } from './listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { Listing } from './listing.ts';

const name = (text: string) => text as UpstreamName;
const upstream = (text: string, fingerprint = `config of ${text}`): UpstreamIdentity => ({
  name: name(text),
  fingerprint: fingerprint as Fingerprint,
});

function listing(text: string, tools: readonly string[], change: Partial<Listing> = {}): Listing {
  const raw = {
    facts: { era: 'legacy' as const, protocol: '2025-11-25', info: {}, capabilities: {} },
    tools: tools.map((tool) => ({ name: tool })),
    prompts: [],
    resources: [],
    templates: [],
  };
  const about = { upstream: name(text), config: upstream(text).fingerprint, at: 1000 };
  return { ...completeAtOnce(readListing(raw, about)).listing, ...change };
}

function setUp(stored: readonly Listing[] = []) {
  const asked: (Deferred<Listing> & { readonly upstream: string })[] = [];
  const saved: Listing[] = [];
  const kept: string[][] = [];
  const events = new Emitter<{ found: readonly Listing[] }>();
  const catalog = new Catalog({
    source: {
      list: (asking) => {
        const answer = { ...deferred<Listing>(), upstream: asking };
        asked.push(answer);
        return answer.promise;
      },
    },
    cache: {
      events,
      restore: async (upstreams) =>
        stored.filter((one) =>
          upstreams.some((other) => other.name === one.upstream && other.fingerprint === one.config),
        ),
      retain: (upstreams) => void kept.push(upstreams.map((one) => one.name)),
      save: (one) => void saved.push(one),
    },
    separator: '__',
    allows: () => true,
    now: () => 5000,
  });
  const changes: string[][] = [];
  catalog.events.on('changed', ({ before, after }) => {
    changes.push(before.digest === after.digest ? ['no difference'] : [...after.tools.keys()]);
  });
  const refresh = (text: string, cancellation = new Cancellation()) =>
    catalog.refresh(name(text), cancellation);
  return { catalog, asked, saved, kept, events, changes, refresh };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('restored catalog', () => {
  test('restore: shows listings of the same config without contacting a server', async () => {
    const { catalog, asked } = setUp([
      listing('a', ['x']),
      listing('b', ['y'], { config: 'older' as Fingerprint }),
      listing('gone', ['z']),
    ]);
    await catalog.restore([upstream('a'), upstream('b')]);
    expect([...catalog.current.tools.keys()]).toEqual(['a__x']);
    expect(asked).toEqual([]);
    expect(catalog.has(name('a'))).toBe(true);
    expect(catalog.has(name('b'))).toBe(false);
    expect(catalog.age(name('a'))).toBe(4000);
    expect(catalog.age(name('b'))).toBeUndefined();
  });

  test('restore: never replaces a newer listing by an older one', async () => {
    const { catalog, asked, events, refresh } = setUp();
    await catalog.restore([upstream('a')]);
    const refreshed = refresh('a');
    asked[0]!.resolve(listing('a', ['new'], { at: 3000 }));
    await refreshed;
    events.emit('found', [listing('a', ['old'], { at: 2000 }), listing('unknown', ['x'])]);
    expect([...catalog.current.tools.keys()]).toEqual(['a__new']);
    events.emit('found', [listing('a', ['newest'], { at: 4000 })]);
    expect([...catalog.current.tools.keys()]).toEqual(['a__newest']);
  });
});

describe('refresh', () => {
  test('refresh: replaces one listing, announces the change and saves it', async () => {
    const { catalog, asked, saved, changes, refresh } = setUp([listing('a', ['x']), listing('b', ['y'])]);
    await catalog.restore([upstream('a'), upstream('b')]);
    const refreshed = refresh('a');
    asked[0]!.resolve(listing('a', ['x', 'z'], { at: 2000 }));
    await refreshed;
    expect(changes).toEqual([
      ['a__x', 'b__y'],
      ['a__x', 'a__z', 'b__y'],
    ]);
    expect(saved.map(({ at }) => at)).toEqual([2000]);
    expect(catalog.listing(name('a'))?.at).toBe(2000);
  });

  test('refresh: keeps the snapshot when nothing changed', async () => {
    const { catalog, asked, saved, changes, refresh } = setUp([listing('a', ['x'])]);
    await catalog.restore([upstream('a')]);
    const { current } = catalog;
    const refreshed = refresh('a');
    asked[0]!.resolve(listing('a', ['x'], { at: 2000 }));
    await refreshed;
    expect(catalog.current).toBe(current);
    expect(catalog.age(name('a'))).toBe(3000);
    expect(changes).toHaveLength(1);
    expect(saved).toHaveLength(1);
  });

  test('refresh: takes over new instructions without announcing a list change', async () => {
    const { catalog, asked, changes, refresh } = setUp([listing('a', ['x'])]);
    await catalog.restore([upstream('a')]);
    const refreshed = refresh('a');
    asked[0]!.resolve({
      ...listing('a', ['x']),
      facts: { ...listing('a', []).facts, instructions: 'Be kind.' },
    });
    await refreshed;
    expect(catalog.current.upstreams.get(name('a'))?.facts.instructions).toBe('Be kind.');
    expect(changes).toHaveLength(1);
  });

  test('refresh: keeps the last listing when it fails', async () => {
    const { catalog, asked, refresh } = setUp([listing('a', ['x'])]);
    await catalog.restore([upstream('a')]);
    const refreshed = refresh('a');
    asked[0]!.reject(new Error('down'));
    await expect(refreshed).rejects.toThrow('down');
    expect([...catalog.current.tools.keys()]).toEqual(['a__x']);
  });

  test('refresh: coalesces concurrent requests and runs once more for later ones', async () => {
    const { catalog, asked, refresh } = setUp();
    await catalog.restore([upstream('a'), upstream('b')]);
    const all = [refresh('a'), refresh('a'), refresh('a'), refresh('b')];
    expect(asked.map((one) => one.upstream)).toEqual(['a', 'b']);
    asked[1]!.resolve(listing('b', ['y']));
    asked[0]!.resolve(listing('a', ['x']));
    await turn();
    expect(asked.map((one) => one.upstream)).toEqual(['a', 'b', 'a']);
    asked[2]!.resolve(listing('a', ['x']));
    await Promise.all(all);
  });

  test('refresh: ignores a listing that was made with another config', async () => {
    const { catalog, asked, saved, refresh } = setUp();
    await catalog.restore([upstream('a')]);
    const refreshed = refresh('a');
    asked[0]!.resolve(listing('a', ['x'], { config: 'newer' as Fingerprint }));
    await refreshed;
    expect(catalog.current.tools.size).toBe(0);
    expect(saved).toEqual([]);
  });

  test('refresh: ignores an unknown server', async () => {
    const { asked, refresh } = setUp();
    await refresh('stranger');
    expect(asked).toEqual([]);
  });

  test('refresh: ignores a response that arrives after it was cancelled', async () => {
    const { catalog, asked, saved, refresh } = setUp();
    await catalog.restore([upstream('a')]);
    const cancellation = new Cancellation();
    const refreshed = refresh('a', cancellation);
    cancellation.cancel(new Error('too slow'));
    await expect(refreshed).rejects.toThrow('too slow');
    asked[0]!.resolve(listing('a', ['late']));
    await turn();
    expect(catalog.current.tools.size).toBe(0);
    expect(saved).toEqual([]);
  });
});

describe('changed config', () => {
  test('config change: drops listings of removed or changed servers and keeps the rest', async () => {
    const { catalog, kept, changes } = setUp([listing('a', ['x']), listing('b', ['y']), listing('c', ['z'])]);
    await catalog.restore([upstream('a'), upstream('b'), upstream('c')]);
    catalog.apply([upstream('a'), upstream('b', 'changed'), upstream('d')]);
    expect(changes.at(-1)).toEqual(['a__x']);
    expect(kept).toEqual([['a', 'b', 'd']]);
    catalog.drop(name('a'));
    expect(changes.at(-1)).toEqual([]);
    expect(kept.at(-1)).toEqual(['b', 'd']);
  });

  test('config change: discards a response that belongs to the previous config', async () => {
    const { catalog, asked, refresh } = setUp();
    await catalog.restore([upstream('a')]);
    const refreshed = refresh('a');
    catalog.apply([upstream('a', 'changed')]);
    await expect(refreshed).rejects.toThrow('removed from the configuration or changed');
    asked[0]!.resolve(listing('a', ['old']));
    await turn();
    expect(catalog.current.tools.size).toBe(0);
  });

  test('config change: applies the new separator and filter', async () => {
    const { catalog, changes } = setUp([listing('a', ['x', 'y'])]);
    await catalog.restore([upstream('a')]);
    catalog.apply([upstream('a')], { separator: '-', allows: (_, tool) => tool === 'y' });
    expect(changes.at(-1)).toEqual(['a-y']);
  });
});

describe('first listing', () => {
  test('first listing: is not awaited for servers that are already listed or unknown', async () => {
    const { catalog } = setUp([listing('a', ['x'])]);
    await catalog.restore([upstream('a')]);
    await expect(catalog.settled([name('a'), name('stranger')], 60_000)).resolves.toBeUndefined();
  });

  test('first listing: is awaited until each server was listed or failed, and only once', async () => {
    const { catalog, asked, refresh } = setUp();
    await catalog.restore([upstream('a'), upstream('b')]);
    let isSettled = false;
    const settled = catalog.settled([name('a'), name('b')], 60_000).then(() => (isSettled = true));
    const refreshed = Promise.allSettled([refresh('a'), refresh('b')]);
    asked[0]!.resolve(listing('a', ['x']));
    await turn();
    expect(isSettled).toBe(false);
    asked[1]!.reject(new Error('down'));
    await settled;
    await refreshed;
    await catalog.settled([name('a'), name('b')], 60_000);
  });

  test('first listing: is awaited no longer than the given time', async () => {
    const { catalog } = setUp();
    await catalog.restore([upstream('a')]);
    const begin = performance.now();
    await catalog.settled([name('a')], 30);
    expect(performance.now() - begin).toBeGreaterThan(25);
  });

  test('first listing: is no longer awaited for a server that was removed', async () => {
    const { catalog } = setUp();
    await catalog.restore([upstream('a')]);
    const settled = catalog.settled([name('a')], 60_000);
    catalog.drop(name('a'));
    await expect(settled).resolves.toBeUndefined();
  });
});

test('dispose: rejects running refreshes with SHUTTING_DOWN', async () => {
  const { catalog, refresh } = setUp();
  await catalog.restore([upstream('a')]);
  const refreshed = Promise.allSettled([refresh('a')]);
  await catalog[Symbol.asyncDispose]();
  expect(await refreshed).toMatchObject([{ status: 'rejected', reason: { code: 'SHUTTING_DOWN' } }]);
});
