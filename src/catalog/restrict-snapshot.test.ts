import { describe, expect, test } from 'vitest';

import type { Entry } from '../core/entry.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { readListing } from './listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import { restrictSnapshot } from './restrict-snapshot.ts';
import { toExposedUri, findResource, mergeListings } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

const facts = { era: 'legacy' as const, protocol: '2025-11-25', info: {}, capabilities: {} };

function whole(): Snapshot {
  const listings = ['one', 'two'].map((upstream) => {
    const raw = {
      facts,
      tools: [
        { name: 'open', _meta: { ui: { resourceUri: `ui://${upstream}/page` } } },
        { name: 'secret', _meta: { ui: { resourceUri: `ui://${upstream}/hidden` } } },
      ],
      prompts: [{ name: 'ask' }],
      resources: [{ uri: 'file:///same', name: 'same' }],
      templates: [{ uriTemplate: `${upstream}:///{path}`, name: 'any' }],
    };
    const source = { upstream: upstream as UpstreamName, config: 'c' as Fingerprint, at: 1 };
    return completeAtOnce(readListing(raw, source)).listing;
  });
  return mergeListings(listings, { separator: '__', allows: () => true });
}

const everything = { isEntryVisible: () => true, isUpstreamVisible: () => true };
const nameOf = (entry: Entry): string => String(entry.definition['name']);

describe('restricted snapshot', () => {
  test('restricted snapshot: has the same digests when nothing is hidden', () => {
    const snapshot = whole();
    const same = restrictSnapshot(snapshot, everything);
    expect(same.digest).toBe(snapshot.digest);
    expect(same.digests).toEqual(snapshot.digests);
    expect([...same.tools]).toEqual([...snapshot.tools]);
  });

  test('restricted snapshot: omits hidden entries and keeps the names of the others', () => {
    const part = restrictSnapshot(whole(), {
      ...everything,
      isEntryVisible: (entry) => nameOf(entry) !== 'secret',
    });
    expect([...part.tools.keys()]).toEqual(['one__open', 'two__open']);
    expect(part.digests.tools).not.toBe(whole().digests.tools);
    expect(part.digests.prompts).toBe(whole().digests.prompts);
  });

  test('restricted snapshot: hides UI resources that belong only to hidden tools', () => {
    const part = restrictSnapshot(whole(), {
      ...everything,
      isEntryVisible: (entry) => nameOf(entry) !== 'secret',
    });
    expect(findResource(whole(), 'ui://one/hidden')).toBeDefined();
    expect(findResource(part, 'ui://one/hidden')).toBeUndefined();
    expect(findResource(part, 'ui://one/page')).toMatchObject({ upstream: 'one' });
  });

  test('restricted snapshot: hides resources of hidden servers and keeps the other URIs', () => {
    const isOne = ({ upstream }: Entry): boolean => upstream === 'one';
    const part = restrictSnapshot(whole(), {
      isEntryVisible: isOne,
      isUpstreamVisible: (name) => name === 'one',
    });
    expect([...part.upstreams.keys()]).toEqual(['one']);
    expect([...part.resources.keys()]).toEqual(['trunkline://one/file:///same']);
    expect(toExposedUri(part, 'one' as UpstreamName, 'file:///same')).toBe('trunkline://one/file:///same');
    expect(findResource(part, 'two:///x')).toBeUndefined();
    expect(findResource(part, 'trunkline://two/file:///same')).toBeUndefined();
    expect(findResource(part, 'one:///x')).toMatchObject({ upstream: 'one' });
  });
});
