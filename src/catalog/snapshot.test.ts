import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import { readListing } from './listing.ts';
import type { Listing } from './listing.ts';
import { alone, exposedUri, findResource, merge } from './snapshot.ts';
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
  return readListing(raw, { upstream: upstream as UpstreamName, config: 'c' as Fingerprint, at: 1 }).listing;
}

const found = (snapshot: Snapshot, uri: string) => {
  const route = findResource(snapshot, uri);
  return route && [route.upstream, route.uri];
};

describe('merge', () => {
  test('puts everything under exposed names, in order', () => {
    const snapshot = merge(
      [listing('b', { tools: ['z', 'a'], prompts: ['p'] }), listing('a', { tools: ['z', 'B', 'b'] })],
      options,
    );
    expect([...snapshot.tools.keys()]).toEqual(['a__B', 'a__b', 'a__z', 'b__a', 'b__z']);
    expect([...snapshot.prompts.keys()]).toEqual(['b__p']);
    expect([...snapshot.upstreams.keys()]).toEqual(['a', 'b']);
    const [entry] = snapshot.tools.values();
    expect(entry).toMatchObject({ kind: 'tool', upstream: 'a', name: 'a__B', definition: { name: 'B' } });
  });

  test('leaves out tools that are not allowed without renaming any other', () => {
    const listings = [listing('s', { tools: ['a.b', 'a_b', 'c'] })];
    const all = [...merge(listings, options).tools.values()];
    const some = merge(listings, {
      ...options,
      allows: (upstream, tool) => upstream === 's' && tool !== 'a.b',
    });
    expect([...some.tools.values()]).toEqual(all.filter(({ definition }) => definition.name !== 'a.b'));
    expect(some.tools.size).toBe(2);
  });

  test('has digests that tell which list differs', () => {
    const one = merge([listing('s', { tools: ['t'], prompts: ['p'], uris: ['a://b'] })], options);
    const two = merge(
      [listing('s', { tools: ['t'], prompts: ['p'], uris: ['a://b'], templates: ['a://{c}'] })],
      options,
    );
    expect(two.digest).not.toBe(one.digest);
    expect(two.digests).toEqual({ ...one.digests, resources: two.digests.resources });
    expect(two.digests.resources).not.toBe(one.digests.resources);
  });

  test('sees other words of the configuration as a difference of what is shown, not of what was said', () => {
    const listings = [listing('s', { tools: ['t'], prompts: ['p'] })];
    const [none, one, other] = [undefined, 'one', 'other'].map((description) =>
      merge(listings, {
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

  test('sees a moved tool and a changed definition as differences, but not a new time', () => {
    const base = merge([listing('a__b', { tools: ['c'] })], options);
    expect(merge([listing('a', { tools: ['b__c'] })], options).digest).not.toBe(base.digest);
    expect(merge([{ ...listing('a__b', { tools: ['c'] }), at: 99 }], options).digest).toBe(base.digest);
  });

  test('gives the same snapshot for the same listings in any order', () => {
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
        const { routes: _, ...first } = merge(one, options);
        const { routes: __, ...second } = merge(other, options);
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
  test('pass unchanged while only one upstream has them', () => {
    const snapshot = merge(
      [listing('a', { uris: ['file:///x'] }), listing('b', { uris: ['file:///y'] })],
      options,
    );
    expect([...snapshot.resources.keys()]).toEqual(['file:///x', 'file:///y']);
    expect(found(snapshot, 'file:///y')).toEqual(['b', 'file:///y']);
    expect(exposedUri(snapshot, 'b' as UpstreamName, 'file:///y')).toBe('file:///y');
  });

  test('of several upstreams with the same URI are all prefixed, and found by looking them up', () => {
    const snapshot = merge(
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
    expect(exposedUri(snapshot, 'a' as UpstreamName, 'file:///x')).toBe('trunkline://a/file:///x');
  });

  test('cannot be taken over by an upstream that writes our prefix itself', () => {
    const snapshot = merge(
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

describe('templates', () => {
  test('are asked for what is not listed, the closest first', () => {
    const snapshot = merge(
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

  test('that several upstreams have are prefixed, and their expansions lose the prefix', () => {
    const snapshot = merge(
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
    expect(exposedUri(snapshot, 'b' as UpstreamName, 'file:///x/y')).toBe('trunkline://b/file:///x/y');
    expect(exposedUri(snapshot, 'b' as UpstreamName, 'b://1')).toBe('b://1');
    // A link leads to the server that gave it, whoever else lists the same.
    expect(exposedUri(snapshot, 'a' as UpstreamName, 'b://1')).toBe('trunkline://a/b://1');
  });
});

describe('one upstream alone', () => {
  const own = listing('files', { tools: ['b.x', 'a'], prompts: ['q', 'p'], uris: ['file:b', 'file:a'] });

  test('has its own names, whatever characters they have, in its own order', () => {
    const snapshot = alone(own, options);
    expect([...snapshot.tools.keys()]).toEqual(['b.x', 'a']);
    expect([...snapshot.prompts.keys()]).toEqual(['q', 'p']);
    expect([...snapshot.resources.keys()]).toEqual(['file:b', 'file:a']);
    expect(findResource(snapshot, 'file:a')).toMatchObject({ upstream: 'files', uri: 'file:a' });
  });

  test('lacks the tools that are not allowed', () => {
    const allows = (upstream: UpstreamName, tool: string): boolean => upstream === 'files' && tool === 'a';
    expect([...alone(own, { allows }).tools.keys()]).toEqual(['a']);
  });
});

describe('pages that tools name', () => {
  const app = (upstream: string, uri: string, uris: readonly string[] = []): Listing => {
    const raw = {
      facts,
      tools: [{ name: 't', _meta: { ui: { resourceUri: uri } } }],
      prompts: [],
      resources: uris.map((listed) => ({ uri: listed, name: listed })),
      templates: [],
    };
    return readListing(raw, { upstream: upstream as UpstreamName, config: 'c' as Fingerprint, at: 1 })
      .listing;
  };

  test('lead to the server of the tool, listed or not', () => {
    const snapshot = merge([app('a', 'ui://a'), app('b', 'ui://b', ['ui://b'])], options);
    expect(found(snapshot, 'ui://a')).toEqual(['a', 'ui://a']);
    expect(found(snapshot, 'ui://b')).toEqual(['b', 'ui://b']);
    expect(exposedUri(snapshot, 'a' as UpstreamName, 'ui://a')).toBe('ui://a');
  });

  test('are prefixed where another server names or lists the same', () => {
    for (const other of [app('b', 'ui://x'), listing('b', { uris: ['ui://x'] })]) {
      const snapshot = merge([app('a', 'ui://x'), other], options);
      expect(exposedUri(snapshot, 'a' as UpstreamName, 'ui://x')).toBe('trunkline://a/ui://x');
      expect(exposedUri(snapshot, 'b' as UpstreamName, 'ui://x')).toBe('trunkline://b/ui://x');
      expect(found(snapshot, 'trunkline://a/ui://x')).toEqual(['a', 'ui://x']);
      expect(found(snapshot, 'trunkline://b/ui://x')).toEqual(['b', 'ui://x']);
      expect(found(snapshot, 'ui://x')).toBeUndefined();
    }
  });

  test('are in no list', () => {
    expect(merge([app('a', 'ui://a')], options).resources.size).toBe(0);
  });

  test('of a server alone are as they are', () => {
    expect(found(alone(app('a', 'ui://a'), options), 'ui://a')).toEqual(['a', 'ui://a']);
  });
});
