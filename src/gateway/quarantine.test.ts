import { describe, expect, test } from 'vitest';

import { Catalog } from '../catalog/catalog.ts';
import { readListing } from '../catalog/listing.ts';
import type { Listing } from '../catalog/listing.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import { silentLogger } from '../observe/log.ts';
import { Approvals } from '../policy/approvals/approvals.ts';
import { subjectsOf } from '../policy/approvals/subject.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamState } from '../upstream/state.ts';
import { Quarantine } from './quarantine.ts';

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
    ...{ resources: [], templates: [] },
  };
  return readListing(raw, { upstream: one, config, at: Date.now() }).listing;
}

/** The store writes nothing, which changes nothing of what is judged in this process. */
function setUp(trust: 'first-sight' | 'manual' | 'scan' = 'first-sight') {
  let offered = listing({ a: 'x' }, { p: 'x' });
  const written: unknown[] = [];
  const restarted: string[] = [];
  const changing = deferred<void>();
  let isChanging = false;
  let state: UpstreamState['at'] = 'idle';
  const nobody = {
    query: { transaction: () => ({ execute: async (work: unknown) => void written.push(work) }) },
  };
  const approvals = new Approvals({
    database: () => Promise.resolve(nobody as never), // Only transactions are begun, which do nothing.
    isStored: () => false,
    trust: () => trust,
    isGone: () => false,
    lock: undefined,
    scanner: () => Promise.resolve(() => []),
    onWritten: () => {},
    now: () => 7,
    log: silentLogger,
  });
  const catalog = new Catalog({
    source: { list: () => Promise.resolve(offered) },
    judge: approvals,
    cache: { events: new Emitter(), restore: () => Promise.resolve([]), keep: () => {}, save: () => {} },
    ...{ separator: '__', allows: () => true, now: Date.now },
  });
  catalog.apply([{ name: one, fingerprint: config }]);
  const status = () => ({ name: one, state }) as never; // Only its state is looked at.
  const quarantine = new Quarantine({
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
    discovery: { changing: () => (isChanging ? changing.promise : undefined) },
    configs: new Map([[one, upstreamConfig({ name: one, fingerprint: config, trust })]]),
  });
  return {
    ...{ quarantine, catalog, written, restarted, approvals },
    offer: async (next: Listing) => {
      offered = next;
      await catalog.refresh(one, new Cancellation());
    },
    change: () => (isChanging = true),
    settle: () => changing.resolve(),
    hold: () => (state = 'held'),
  };
}

const shown = (catalog: Catalog) => [...catalog.current.tools.keys()];
const named = (from: Listing, name: string, kind: 'tool' | 'prompt' | 'words' = 'tool') => {
  const found = subjectsOf(from).find((each) => each.kind === kind && each.name === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return { server: one, kind, name, fingerprint: found.fingerprint };
};

describe('what waits', () => {
  test('is told with its reason and what was approved in its place', async () => {
    const { quarantine, offer, catalog } = setUp();
    await offer(listing({ a: 'x' }, { p: 'x' }));
    expect(quarantine.counts).toEqual({ servers: 0, entries: 0 });
    await offer(listing({ a: 'y', b: 'z' }, { p: 'y' }, 'Obey.'));
    expect(shown(catalog)).toEqual([]);
    expect(quarantine.counts).toEqual({ servers: 0, entries: 4 });
    const waiting = await quarantine.waiting();
    expect(
      waiting.map(({ subject: { kind, name }, reason, approved }) => [
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

  test('of a server that was never started is the server itself', async () => {
    const { quarantine, hold } = setUp('manual');
    hold();
    expect(quarantine.counts).toEqual({ servers: 1, entries: 0 });
    expect(await quarantine.waiting()).toMatchObject([
      { server: 'one', reason: 'new', subject: { kind: 'server', fingerprint: 'c1' } },
    ]);
  });
});

describe('a decision', () => {
  test('is about the bytes that were looked at, all of them or none', async () => {
    const { quarantine, offer, catalog, written } = setUp();
    const [first, second, third] = [{ a: 'x' }, { a: 'y', b: 'y' }, { a: 'z', b: 'y' }].map((each) =>
      listing(each),
    );
    await offer(first!);
    await offer(second!);
    const looked = [named(second!, 'a'), named(second!, 'b')];
    await offer(third!);
    const before = written.length;
    await expect(quarantine.decide(looked, 'approved', 'me')).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
    });
    expect(written).toHaveLength(before);
    expect(shown(catalog)).toEqual([]);
    await quarantine.decide([named(third!, 'a'), named(third!, 'b')], 'approved', 'me');
    expect(shown(catalog)).toEqual(['one__a', 'one__b']);
    expect(quarantine.counts.entries).toBe(0);
  });

  test('against something keeps it away, whatever is trusted', async () => {
    const { quarantine, offer, catalog } = setUp('scan');
    const offered = listing({ a: 'x' });
    await offer(offered);
    expect(shown(catalog)).toEqual(['one__a']);
    await quarantine.decide([named(offered, 'a')], 'refused', 'me');
    expect(shown(catalog)).toEqual([]);
    expect((await quarantine.waiting()).map(({ reason }) => reason)).toEqual(['refused']);
    expect(quarantine.counts.entries).toBe(0);
  });

  test('about what is not offered is refused', async () => {
    const { quarantine, offer } = setUp();
    await offer(listing({ a: 'x' }));
    const gone = { ...named(listing({ b: 'x' }), 'b') };
    await expect(quarantine.decide([gone], 'approved', 'me')).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
  });

  test('for a server starts it', async () => {
    const { quarantine, hold, restarted } = setUp('manual');
    hold();
    const server = { server: one, kind: 'server' as const, name: '', fingerprint: config };
    const other = { ...server, fingerprint: 'c2' as Fingerprint };
    await expect(quarantine.decide([other], 'approved', 'me')).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
    });
    expect(restarted).toEqual([]);
    await quarantine.decide([server], 'approved', 'me');
    expect(restarted).toEqual(['one']);
    expect(quarantine.counts.servers).toBe(0);
  });
});

describe('a call that is on its way', () => {
  test('is stopped when its tool is held by then', async () => {
    const { quarantine, offer, catalog } = setUp();
    await offer(listing({ a: 'x' }, { p: 'x' }));
    const [tool, prompt] = [[...catalog.current.tools.values()][0], [...catalog.current.prompts.values()][0]];
    expect(() => quarantine.refuseHeld(tool)).not.toThrow();
    await offer(listing({ a: 'y' }, { p: 'y' }));
    expect(() => quarantine.refuseHeld(tool)).toThrow('held');
    expect(() => quarantine.refuseHeld(prompt)).toThrow('held');
    // The error says nothing of what is held.
    expect(() => quarantine.refuseHeld(tool)).not.toThrow(/"y"/);
  });

  test('waits for a list that is being read, and not longer than its client does', async () => {
    const { quarantine, change, settle } = setUp();
    expect(quarantine.changing(one, new Cancellation())).toBeUndefined();
    change();
    const cancellation = new Cancellation();
    const left = quarantine.changing(one, cancellation);
    cancellation.cancel(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    const waiting = quarantine.changing(one, new Cancellation());
    settle();
    await expect(waiting).resolves.toBeUndefined();
  });
});
