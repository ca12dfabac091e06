import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import { readListing } from './listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { Listing } from './listing.ts';
import { singleServerSnapshot, toExposedUri, findResource, mergeListings } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

const facts: ServerFacts = { era: 'legacy', protocol: '2025-11-25', info: {}, capabilities: {} };
const options = { separator: '__', allows: () => true };

interface Offer {
  readonly tools?: readonly string[];
  readonly prompts?: readonly string[];
  readonly uris?: readonly string[];
  readonly templates?: readonly string[];
}

function listing(upstream: string, { tools = [], prompts = [], uris = [], templates = [] }: Offer): Listing {
  const raw = {
    facts,
    tools: tools.map((name) => ({ name })),
    prompts: prompts.map((name) => ({ name })),
    resources: uris.map((uri) => ({ uri, name: uri })),
    templates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  };
  return completeAtOnce(
    readListing(raw, { upstream: upstream as UpstreamName, config: 'c' as Fingerprint, at: 1 }),
  ).listing;
}

const found = (snapshot: Snapshot, uri: string) => {
  const route = findResource(snapshot, uri);
  return route && [route.upstream, route.uri];
};

describe('merge', () => {
  test('merge: lists all entries under exposed names in a fixed order', () => {
    const snapshot = mergeListings(
      [listing('b', { tools: ['z', 'a'], prompts: ['p'] }), listing('a', { tools: ['z', 'B', 'b'] })],
      options,
    );
    expect([...snapshot.tools.keys()]).toEqual(['a__B', 'a__b', 'a__z', 'b__a', 'b__z']);
    expect([...snapshot.prompts.keys()]).toEqual(['b__p']);
    expect([...snapshot.upstreams.keys()]).toEqual(['a', 'b']);
    const [entry] = snapshot.tools.values();
    expect(entry).toMatchObject({ kind: 'tool', upstream: 'a', name: 'a__B', definition: { name: 'B' } });
  });

  test('merge: omits disallowed tools without renaming others', () => {
    const listings = [listing('s', { tools: ['a.b', 'a_b', 'c'] })];
    const all = [...mergeListings(listings, options).tools.values()];
    const some = mergeListings(listings, {
      ...options,
      allows: (upstream, tool) => upstream === 's' && tool !== 'a.b',
    });
    expect([...some.tools.values()]).toEqual(all.filter(({ definition }) => definition.name !== 'a.b'));
    expect(some.tools.size).toBe(2);
  });

  test('merge: has one digest per list, which shows the list that changed', () => {
    const one = mergeListings([listing('s', { tools: ['t'], prompts: ['p'], uris: ['a://b'] })], options);
    const two = mergeListings(
      [listing('s', { tools: ['t'], prompts: ['p'], uris: ['a://b'], templates: ['a://{c}'] })],
      options,
    );
    expect(two.digest).not.toBe(one.digest);
    expect(two.digests).toEqual({ ...one.digests, resources: two.digests.resources });
    expect(two.digests.resources).not.toBe(one.digests.resources);
  });

  test('merge: changes the digest but not the fingerprint when the config overrides a description', () => {
    const listings = [listing('s', { tools: ['t'], prompts: ['p'] })];
    const [none, one, other] = [undefined, 'one', 'other'].map((description) =>
      mergeListings(listings, {
        ...options,
        describe: (_, definition) =>
          description === undefined ? definition : { ...definition, description },
      }),
    );
    const digests = [none, one, other].map((snapshot) => snapshot?.digests.tools);
    expect(new Set(digests).size).toBe(3);
    expect(new Set([none, one, other].map((snapshot) => snapshot?.digests.prompts)).size).toBe(1);
    const said = [none, one, other].flatMap((snapshot) => [...(snapshot?.tools.values() ?? [])]);
    expect(new Set(said.map(({ fingerprint }) => fingerprint)).size).toBe(1);
  });

  test('merge: changes the digest when a tool moves to another server, and not with the time', () => {
    const base = mergeListings([listing('a__b', { tools: ['c'] })], options);
    expect(mergeListings([listing('a', { tools: ['b__c'] })], options).digest).not.toBe(base.digest);
    expect(mergeListings([{ ...listing('a__b', { tools: ['c'] }), at: 99 }], options).digest).toBe(
      base.digest,
    );
  });

  test('merge: yields the same snapshot for listings in any order', () => {
    const words = fc.uniqueArray(fc.constantFrom('a', 'b', 'a__b', 'a.b', 'x'.repeat(70)), { maxLength: 4 });
    const uris = fc.uniqueArray(fc.constantFrom('a://1', 'a://2', 'trunkline://a/a://1'), { maxLength: 3 });
    const listings = fc
      .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'a__b', 'é', 'è'), words, words, uris, uris), {
        selector: ([name]) => name,
      })
      .map((all) =>
        all.map(([name, tools, prompts, own, templates]) =>
          listing(name, { tools, prompts, uris: own, templates }),
        ),
      );
    const shuffled = listings.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const { routes: _, ...first } = mergeListings(one, options);
        const { routes: __, ...second } = mergeListings(other, options);
        expect(second).toEqual(first);
        expect([...second.tools]).toEqual([...first.tools]);
        expect([...second.resources]).toEqual([...first.resources]);
        const count = one.reduce((sum, { resources }) => sum + resources.length, 0);
        expect(first.resources.size).toBe(count);
      }),
    );
  });
});

describe('resources', () => {
  test('resource: keeps its URI while only one server has it', () => {
    const snapshot = mergeListings(
      [listing('a', { uris: ['file:///x'] }), listing('b', { uris: ['file:///y'] })],
      options,
    );
    expect([...snapshot.resources.keys()]).toEqual(['file:///x', 'file:///y']);
    expect(found(snapshot, 'file:///y')).toEqual(['b', 'file:///y']);
    expect(toExposedUri(snapshot, 'b' as UpstreamName, 'file:///y')).toBe('file:///y');
  });

  test('resource: gets a prefixed URI when several servers have the same', () => {
    const snapshot = mergeListings(
      [listing('a', { uris: ['file:///x', 'a://own'] }), listing('b c/ü', { uris: ['file:///x'] })],
      options,
    );
    expect([...snapshot.resources.keys()]).toEqual([
      'a://own',
      'trunkline://a/file:///x',
      'trunkline://b%20c%2F%C3%BC/file:///x',
    ]);
    for (const uri of snapshot.resources.keys()) expect(() => new URL(uri)).not.toThrow();
    expect(found(snapshot, 'file:///x')).toBeUndefined();
    expect(found(snapshot, 'trunkline://b%20c%2F%C3%BC/file:///x')).toEqual(['b c/ü', 'file:///x']);
    expect(toExposedUri(snapshot, 'a' as UpstreamName, 'file:///x')).toBe('trunkline://a/file:///x');
  });

  test('resource: cannot be taken over by a server that imitates the prefix', () => {
    const snapshot = mergeListings(
      [
        listing('a', { uris: ['file:///x'] }),
        listing('b', { uris: ['file:///x'] }),
        listing('evil', { uris: ['trunkline://a/file:///x'] }),
      ],
      options,
    );
    expect(found(snapshot, 'trunkline://a/file:///x')).toEqual(['a', 'file:///x']);
    expect(found(snapshot, 'trunkline://evil/trunkline://a/file:///x')).toEqual([
      'evil',
      'trunkline://a/file:///x',
    ]);
  });
});

describe('resource templates', () => {
  test('template: routes an unlisted URI to the most specific match', () => {
    const snapshot = mergeListings(
      [
        listing('files', { uris: ['file:///listed'], templates: ['file:///{+path}'] }),
        listing('home', { templates: ['file:///~home/{name}'] }),
        listing('logs', { templates: ['file:///logs/{name}', 'log://{day}{?level}'] }),
      ],
      options,
    );
    expect(found(snapshot, 'file:///listed')).toEqual(['files', 'file:///listed']);
    expect(found(snapshot, 'file:///logs/today')).toEqual(['logs', 'file:///logs/today']);
    expect(found(snapshot, 'file:///logs/2026/today')).toEqual(['files', 'file:///logs/2026/today']);
    expect(found(snapshot, 'log://monday?level=warn')).toEqual(['logs', 'log://monday?level=warn']);
    expect(found(snapshot, 'file:///~home/x')).toEqual(['home', 'file:///~home/x']);
    expect(found(snapshot, 'unknown://x')).toBeUndefined();
  });

  test('template: gets a prefix when several servers have the same, which expansions lose again', () => {
    const snapshot = mergeListings(
      [
        listing('a', { templates: ['file:///{+path}'] }),
        listing('b', { templates: ['file:///{+path}', 'b://{x}'] }),
      ],
      options,
    );
    expect(snapshot.templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'b://{x}',
      'trunkline://a/file:///{+path}',
      'trunkline://b/file:///{+path}',
    ]);
    expect(found(snapshot, 'trunkline://b/file:///x/y')).toEqual(['b', 'file:///x/y']);
    expect(found(snapshot, 'file:///x/y')).toBeUndefined();
    expect(toExposedUri(snapshot, 'b' as UpstreamName, 'file:///x/y')).toBe('trunkline://b/file:///x/y');
    expect(toExposedUri(snapshot, 'b' as UpstreamName, 'b://1')).toBe('b://1');
    // A link leads to the server that returned it, even if another server lists the same URI.
    expect(toExposedUri(snapshot, 'a' as UpstreamName, 'b://1')).toBe('trunkline://a/b://1');
  });
});

describe('single server', () => {
  const own = listing('files', { tools: ['b.x', 'a'], prompts: ['q', 'p'], uris: ['file:b', 'file:a'] });

  test('single server: keeps its own names and order', () => {
    const snapshot = singleServerSnapshot(own, options);
    expect([...snapshot.tools.keys()]).toEqual(['b.x', 'a']);
    expect([...snapshot.prompts.keys()]).toEqual(['q', 'p']);
    expect([...snapshot.resources.keys()]).toEqual(['file:b', 'file:a']);
    expect(findResource(snapshot, 'file:a')).toMatchObject({ upstream: 'files', uri: 'file:a' });
  });

  test('single server: omits disallowed tools', () => {
    const allows = (upstream: UpstreamName, tool: string): boolean => upstream === 'files' && tool === 'a';
    expect([...singleServerSnapshot(own, { allows }).tools.keys()]).toEqual(['a']);
  });
});

describe('UI resources of tools', () => {
  const app = (upstream: string, uri: string, uris: readonly string[] = []): Listing => {
    const raw = {
      facts,
      tools: [{ name: 't', _meta: { ui: { resourceUri: uri } } }],
      prompts: [],
      resources: uris.map((listed) => ({ uri: listed, name: listed })),
      templates: [],
    };
    return completeAtOnce(
      readListing(raw, { upstream: upstream as UpstreamName, config: 'c' as Fingerprint, at: 1 }),
    ).listing;
  };

  test('UI resource: is routed to the server of its tool, listed or not', () => {
    const snapshot = mergeListings([app('a', 'ui://a'), app('b', 'ui://b', ['ui://b'])], options);
    expect(found(snapshot, 'ui://a')).toEqual(['a', 'ui://a']);
    expect(found(snapshot, 'ui://b')).toEqual(['b', 'ui://b']);
    expect(toExposedUri(snapshot, 'a' as UpstreamName, 'ui://a')).toBe('ui://a');
  });

  test('UI resource: gets a prefix when another server names or lists the same URI', () => {
    for (const other of [app('b', 'ui://x'), listing('b', { uris: ['ui://x'] })]) {
      const snapshot = mergeListings([app('a', 'ui://x'), other], options);
      expect(toExposedUri(snapshot, 'a' as UpstreamName, 'ui://x')).toBe('trunkline://a/ui://x');
      expect(toExposedUri(snapshot, 'b' as UpstreamName, 'ui://x')).toBe('trunkline://b/ui://x');
      expect(found(snapshot, 'trunkline://a/ui://x')).toEqual(['a', 'ui://x']);
      expect(found(snapshot, 'trunkline://b/ui://x')).toEqual(['b', 'ui://x']);
      expect(found(snapshot, 'ui://x')).toBeUndefined();
    }
  });

  test('UI resource: does not appear in the resource list', () => {
    expect(mergeListings([app('a', 'ui://a')], options).resources.size).toBe(0);
  });

  test('UI resource: keeps its URI for a single server', () => {
    expect(found(singleServerSnapshot(app('a', 'ui://a'), options), 'ui://a')).toEqual(['a', 'ui://a']);
  });
});
