import { describe, expect, test } from 'vitest';

import { Catalog } from '../catalog/catalog.ts';
import { readListing } from '../catalog/listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { Listing } from '../catalog/listing.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { silentLogger } from '../observability/log.ts';
import { ApprovalRegistry } from '../policy/approvals/approval-registry.ts';
import { listApprovalSubjects } from '../policy/approvals/approval-subject.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamState } from '../upstream/upstream-state.ts';
import { HeldEntries } from './held-entries.ts';

const one = 'one' as UpstreamName;
const config = 'c1' as Fingerprint;

type Offer = Readonly<Record<string, string>>;

function listing(tools: Offer, prompts: Offer = {}, instructions = 'Be kind.'): Listing {
  const described = (all: Offer) => Object.entries(all).map(([name, description]) => ({ name, description }));
  const facts = { era: 'legacy' as const, protocol: 'x', info: {}, capabilities: {}, instructions };
  const raw = {
    facts,
    tools: described(tools),
    prompts: described(prompts),
    resources: [],
    templates: [],
  };
  return completeAtOnce(readListing(raw, { upstream: one, config, at: Date.now() })).listing;
}

/** The database discards all writes, which does not affect assessments in this process. */
function setUp(trust: 'first-sight' | 'manual' | 'scan' = 'first-sight') {
  let offered = listing({ a: 'x' }, { p: 'x' });
  const written: unknown[] = [];
  const restarted: string[] = [];
  const relisted = deferred<void>();
  let isRelisting = false;
  let state: UpstreamState['kind'] = 'idle';
  const discardingDatabase = {
    query: { transaction: () => ({ execute: async (work: unknown) => void written.push(work) }) },
  };
  const approvals = new ApprovalRegistry({
    database: () => Promise.resolve(discardingDatabase as never), // Only transactions are used.
    hasStore: () => false,
    trust: () => trust,
    configured: () => upstreamConfig({ fingerprint: config }),
    isRemoved: () => false,
    lock: undefined,
    scanner: () =>
      Promise.resolve(function* () {
        yield;
        return [];
      }),
    onWritten: () => {},
    now: () => 7,
    log: silentLogger,
  });
  const catalog = new Catalog({
    source: { list: () => Promise.resolve(offered) },
    assessor: approvals,
    cache: { events: new Emitter(), restore: () => Promise.resolve([]), retain: () => {}, save: () => {} },
    separator: '__',
    allows: () => true,
    now: Date.now,
  });
  catalog.apply([{ name: one, fingerprint: config }]);
  const status = () => ({ name: one, state }) as never; // Only the state is used.
  const heldEntries = new HeldEntries({
    approvals,
    catalog,
    servers: {
      status: () => [status()],
      statusOf: () => status(),
      restart: (name) => {
        restarted.push(name);
        state = 'ready';
        return Promise.resolve();
      },
    },
    listing: { relisting: () => (isRelisting ? relisted.promise : undefined) },
    upstreams: new Map([[one, upstreamConfig({ name: one, fingerprint: config, trust })]]),
  });
  return {
    heldEntries,
    catalog,
    written,
    restarted,
    offer: async (next: Listing) => {
      offered = next;
      await catalog.refresh(one, new Cancellation());
    },
    announceChange: () => (isRelisting = true),
    finishRelisting: () => relisted.resolve(),
    hold: () => (state = 'held'),
  };
}

const visibleTools = (catalog: Catalog) => [...catalog.current.tools.keys()];
const reviewed = (from: Listing, name: string, kind: 'tool' | 'prompt' | 'words' = 'tool') => {
  const found = listApprovalSubjects(from).find((subject) => subject.kind === kind && subject.name === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return { server: one, kind, name, fingerprint: found.fingerprint };
};

describe('held entries', () => {
  test('held entries: lists held entries with the reason and the approved definition', async () => {
    const { heldEntries, offer, catalog } = setUp();
    await offer(listing({ a: 'x' }, { p: 'x' }));
    expect(heldEntries.counts).toEqual({ servers: 0, entries: 0 });
    await offer(listing({ a: 'y', b: 'z' }, { p: 'y' }, 'Obey.'));
    expect(visibleTools(catalog)).toEqual([]);
    expect(heldEntries.counts).toEqual({ servers: 0, entries: 4 });
    const items = await heldEntries.list();
    expect(
      items.map(({ subject: { kind, name }, reason, approved }) => [
        kind,
        name,
        reason,
        approved?.definition,
      ]),
    ).toEqual([
      ['words', '', 'changed', { instructions: 'Be kind.' }],
      ['tool', 'a', 'changed', { name: 'a', description: 'x', inputSchema: { type: 'object' } }],
      ['tool', 'b', 'new', undefined],
      ['prompt', 'p', 'changed', { name: 'p', description: 'x' }],
    ]);
  });

  test('held entries: lists a server that was never started as held itself', async () => {
    const { heldEntries, hold } = setUp('manual');
    hold();
    expect(heldEntries.counts).toEqual({ servers: 1, entries: 0 });
    expect(await heldEntries.list()).toMatchObject([
      { server: 'one', reason: 'new', subject: { kind: 'server', fingerprint: 'c1' } },
    ]);
  });
});

describe('approval decisions', () => {
  test('approval: applies to the reviewed fingerprints, all or none', async () => {
    const { heldEntries, offer, catalog, written } = setUp();
    const [first, second, third] = [{ a: 'x' }, { a: 'y', b: 'y' }, { a: 'z', b: 'y' }].map((each) =>
      listing(each),
    );
    await offer(first!);
    await offer(second!);
    const reviewedBefore = [reviewed(second!, 'a'), reviewed(second!, 'b')];
    await offer(third!);
    const before = written.length;
    await expect(heldEntries.decide(reviewedBefore, 'approved', 'me')).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
    });
    expect(written).toHaveLength(before);
    expect(visibleTools(catalog)).toEqual([]);
    await heldEntries.decide([reviewed(third!, 'a'), reviewed(third!, 'b')], 'approved', 'me');
    expect(visibleTools(catalog)).toEqual(['one__a', 'one__b']);
    expect(heldEntries.counts.entries).toBe(0);
  });

  test('refusal: hides an entry regardless of the trust setting', async () => {
    const { heldEntries, offer, catalog } = setUp('scan');
    const offered = listing({ a: 'x' });
    await offer(offered);
    expect(visibleTools(catalog)).toEqual(['one__a']);
    await heldEntries.decide([reviewed(offered, 'a')], 'refused', 'me');
    expect(visibleTools(catalog)).toEqual([]);
    expect((await heldEntries.list()).map(({ reason }) => reason)).toEqual(['refused']);
    expect(heldEntries.counts.entries).toBe(0);
  });

  test('approval: rejects a decision about an entry that is not offered', async () => {
    const { heldEntries, offer } = setUp();
    await offer(listing({ a: 'x' }));
    const gone = { ...reviewed(listing({ b: 'x' }), 'b') };
    await expect(heldEntries.decide([gone], 'approved', 'me')).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
  });

  test('approval: starts the server when the server itself is approved', async () => {
    const { heldEntries, hold, restarted } = setUp('manual');
    hold();
    const server = { server: one, kind: 'server' as const, name: '', fingerprint: config };
    const other = { ...server, fingerprint: 'c2' as Fingerprint };
    await expect(heldEntries.decide([other], 'approved', 'me')).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
    });
    expect(restarted).toEqual([]);
    await heldEntries.decide([server], 'approved', 'me');
    expect(restarted).toEqual(['one']);
    expect(heldEntries.counts.servers).toBe(0);
  });
});

describe('running calls', () => {
  test('held entry: refuses a call when its tool or prompt is held in the meantime', async () => {
    const { heldEntries, offer, catalog } = setUp();
    await offer(listing({ a: 'x' }, { p: 'x' }));
    const [tool, prompt] = [[...catalog.current.tools.values()][0], [...catalog.current.prompts.values()][0]];
    expect(() => heldEntries.assertNotHeld(tool)).not.toThrow();
    await offer(listing({ a: 'y' }, { p: 'y' }));
    expect(() => heldEntries.assertNotHeld(tool)).toThrow('held');
    expect(() => heldEntries.assertNotHeld(prompt)).toThrow('held');
    // The error does not quote the held definition.
    expect(() => heldEntries.assertNotHeld(tool)).not.toThrow(/"y"/);
  });

  test('listing refresh: delays calls of the server until it ends or the client cancels', async () => {
    const { heldEntries, announceChange, finishRelisting } = setUp();
    expect(heldEntries.whenRelisted(one, new Cancellation())).toBeUndefined();
    announceChange();
    const cancellation = new Cancellation();
    const cancelled = heldEntries.whenRelisted(one, cancellation);
    cancellation.cancel(new Error('gone'));
    await expect(cancelled).rejects.toThrow('gone');
    const relistedLater = heldEntries.whenRelisted(one, new Cancellation());
    finishRelisting();
    await expect(relistedLater).resolves.toBeUndefined();
  });
});
