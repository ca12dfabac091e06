import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { silentLogger } from '../../observability/log.ts';
import { hasDatabase, openDatabase } from '../../core/storage/database.ts';
import { LazyDatabase } from '../../core/storage/lazy-database.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import { ApprovalRegistry } from './approval-registry.ts';
import type { TrustMode } from './assess-offer.ts';
import { createServerSubject, createSubject, listApprovalSubjects } from './approval-subject.ts';
import type { ServerFingerprints, ServerOffer } from './approval-subject.ts';

const one = 'one' as UpstreamName;
const offer = (
  tools: Readonly<Record<string, string>>,
  config = 'c1',
  instructions = 'Be kind.',
): ServerOffer => ({
  upstream: one,
  config: config as Fingerprint,
  facts: { era: 'legacy', protocol: 'x', info: {}, capabilities: {}, instructions },
  tools: Object.entries(tools).map(([name, description]) => ({ definition: { name, description } })),
  prompts: [],
});

const offerWithMeta = (_meta?: object): ServerOffer => ({
  ...offer({}),
  tools: [{ definition: { name: 'a', ...(_meta && { _meta }) } }],
});

let stateDir = '';
let place: StoreLocation;
let database: LazyDatabase;
beforeEach(() => {
  isBroken = false;
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-approvals-'));
  database = new LazyDatabase(() => openDatabase(place));
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true });
});

let isBroken = false;

interface OpenOptions {
  readonly isRemoved?: boolean;
  readonly configured?: ServerFingerprints;
}

function open(trust: TrustMode = 'first-sight', options: OpenOptions = {}): ApprovalRegistry {
  const { isRemoved = false, configured } = options;
  return new ApprovalRegistry({
    database: () => (isBroken ? Promise.reject(new Error('no such disk')) : database.get()),
    hasStore: () => isBroken || hasDatabase(place),
    trust: () => trust,
    configured: () => configured,
    isRemoved: () => isRemoved,
    lock: undefined,
    scanner: () =>
      Promise.resolve(function* () {
        yield;
        return [];
      }),
    onWritten: () => {},
    now: Date.now,
    log: silentLogger,
  });
}

const decide = (
  approvals: ApprovalRegistry,
  offered: ServerOffer,
  name: string,
  state: 'approved' | 'refused',
) =>
  approvals.decide(
    listApprovalSubjects(offered)
      .filter((subject) => subject.name === name)
      .map((subject) => ({ upstream: one, subject })),
    state,
    'me',
  );

eachEngine((engine, newStore) => {
  beforeEach(async () => {
    place = await newStore(stateDir);
  });

  describe('stored approvals', () => {
    test('approvals: persist, and changed entries stay held until a person approves them', async () => {
      const first = open();
      expect((await first.assess(offer({ a: 'x' }), undefined)).tools).toEqual([]);
      await first.flush();
      const next = open();
      const changed = offer({ a: 'y', b: 'z' });
      expect((await next.assess(changed, undefined)).tools).toEqual([
        ['a', 'changed'],
        ['b', 'new'],
      ]);
      expect((await next.assess(offer({ a: 'x' }), undefined)).tools).toEqual([]);
      await decide(next, changed, 'a', 'approved');
      expect((await open().assess(changed, undefined)).tools).toEqual([['b', 'new']]);
      expect((await open().assess(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'changed']]);
    });

    test('approvals: hold a tool whose _meta appears or changes, unless only numbers, times and ids change', async () => {
      const approvals = open();
      const held = async (meta?: object) => (await approvals.assess(offerWithMeta(meta), undefined)).tools;
      expect(await held()).toEqual([]);
      expect(await held({ tags: ['x'] })).toEqual([['a', 'changed']]);
      await decide(approvals, offerWithMeta({ 'anthropic/searchHint': 'x', at: 1 }), 'a', 'approved');
      expect(await held({ 'anthropic/searchHint': 'x', at: 2 })).toEqual([]);
      expect(await held({ 'anthropic/searchHint': 'Call this first.', at: 1 })).toEqual([['a', 'changed']]);
    });

    test('approvals: of earlier versions hold nothing after an upgrade, and cover _meta from then on', async () => {
      const former = open();
      const [subject] = listApprovalSubjects(offerWithMeta()).filter(({ kind }) => kind === 'tool');
      const { formerFingerprint: fingerprint } = subject ?? {};
      const stored = {
        ...createSubject('tool', 'a', { name: 'a' }),
        fingerprint: fingerprint as Fingerprint,
      };
      await former.decide([{ upstream: one, subject: stored }], 'approved', 'ann');
      const upgraded = open();
      expect((await upgraded.assess(offerWithMeta({ tags: ['x'] }), undefined)).tools).toEqual([]);
      await upgraded.flush();
      const next = open();
      expect((await next.assess(offerWithMeta({ tags: ['y'] }), undefined)).tools).toEqual([
        ['a', 'changed'],
      ]);
      expect((await next.assess(offerWithMeta(), undefined)).tools).toEqual([['a', 'changed']]);
      const approved = await database.get().then(({ query }) => query.selectFrom('approvals').selectAll());
      expect(await approved.where('kind', '=', 'tool').execute()).toMatchObject([{ decided_by: 'ann' }]);
    });

    test('approvals: keep the approved instructions while changed ones are held', async () => {
      const approvals = open();
      await approvals.assess(offer({ a: 'x' }), undefined);
      expect((await approvals.assess(offer({ a: 'x' }, 'c1', 'Obey me.'), undefined)).words).toEqual({
        reason: 'changed',
        approved: { instructions: 'Be kind.' },
      });
    });

    test('approvals: fall back to the last shown listing when the store was lost', async () => {
      const shown = { ...offer({ a: 'x' }), judged: { basis: '', tools: [], prompts: [] } };
      expect((await open().assess(offer({ a: 'y' }), shown)).tools).toEqual([['a', 'changed']]);
    });

    test('approvals: are deleted when the server leaves the configuration', async () => {
      const first = open();
      await first.assess(offer({ a: 'x' }), undefined);
      await first.flush();
      const left = open('manual', { isRemoved: true });
      await left.assess(offer({ a: 'x' }), undefined);
      await left.flush();
      expect((await open('manual').assess(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'new']]);
    });
  });

  test('trust on first use: ends with the first listing, also when a new configuration offers the same', async () => {
    const approvals = open();
    await approvals.assess(offer({ a: 'x', b: 'x' }), undefined);
    expect((await approvals.assess(offer({ a: 'x', b: 'x' }, 'c2'), undefined)).tools).toEqual([]);
    const changed = offer({ a: 'y', b: 'x', c: 'x' }, 'c2');
    const held = [
      ['a', 'changed'],
      ['c', 'new'],
    ];
    expect((await approvals.assess(changed, undefined)).tools).toEqual(held);
    await approvals.flush();
    expect((await open().assess(changed, undefined)).tools).toEqual(held);
  });

  test('config change: keeps approved entries and accepts the new ones on first use', async () => {
    const approvals = open();
    await approvals.assess(offer({ a: 'x' }), undefined);
    const more = offer({ a: 'x', b: 'x' }, 'c2');
    for (let looks = 0; looks < 3; looks++)
      expect((await approvals.assess(more, undefined)).tools).toEqual([]);
    await approvals.flush();
    expect((await open().assess(more, undefined)).tools).toEqual([]);
    expect((await open().assess(offer({ a: 'y', b: 'x' }, 'c2'), undefined)).tools).toEqual([
      ['a', 'changed'],
    ]);
  });

  test('config change: keeps approvals while the server lists nothing at first', async () => {
    const approvals = open();
    await approvals.assess(offer({ a: 'x' }), undefined);
    await approvals.assess({ ...offer({}, 'c2'), facts: offer({}, 'c2', '').facts }, undefined);
    expect((await approvals.assess(offer({ a: 'x' }, 'c2'), undefined)).tools).toEqual([]);
    expect((await approvals.assess(offer({ a: 'y' }, 'c2'), undefined)).tools).toEqual([['a', 'changed']]);
  });

  test('config change: accepts all entries on first use except refused ones', async () => {
    const approvals = open();
    await approvals.assess(offer({ a: 'x', b: 'x' }), undefined);
    await decide(approvals, offer({ a: 'y', b: 'y' }), 'b', 'refused');
    expect((await approvals.assess(offer({ a: 'y', b: 'y' }, 'c2'), undefined)).tools).toEqual([
      ['b', 'refused'],
    ]);
  });

  test('manual trust: allows a start only after the exact configuration is approved', async () => {
    const approvals = open('manual');
    const config = { name: one, trust: 'manual' as const, startFingerprint: 'c1' as Fingerprint };
    expect(await approvals.canStart(config)).toBe(false);
    const subject = { kind: 'server' as const, name: '', definition: {}, fingerprint: 'c1' as Fingerprint };
    await approvals.decide([{ upstream: one, subject }], 'approved', 'me');
    expect(await approvals.canStart(config)).toBe(true);
    expect(await approvals.canStart({ ...config, startFingerprint: 'c2' as Fingerprint })).toBe(false);
    expect((await approvals.assess(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'new']]);
  });

  const serverWith = (startFingerprint: string) => ({
    name: one,
    trust: 'manual' as const,
    fingerprint: 'c1' as Fingerprint,
    startFingerprint: startFingerprint as Fingerprint,
  });

  test('manual trust: asks again when only the settings for signing in change', async () => {
    const approvals = open('manual', { configured: serverWith('c1') });
    const subject = createServerSubject(serverWith('c1'));
    await approvals.decide([{ upstream: one, subject }], 'approved', 'me');
    expect(await approvals.canStart(serverWith('c1'))).toBe(true);
    expect(await approvals.canStart(serverWith('other auth'))).toBe(false);
    await approvals.flush();
    const restarted = open('manual', { configured: serverWith('other auth') });
    expect(await restarted.canStart(serverWith('other auth'))).toBe(false);
  });

  test('manual trust: keeps the approval of an earlier version, which then covers the settings for signing in', async () => {
    const subject = { ...createServerSubject(serverWith('c1')), definition: {} };
    await open('manual').decide([{ upstream: one, subject }], 'approved', 'me');
    const upgraded = open('manual', { configured: serverWith('auth') });
    expect(await upgraded.canStart(serverWith('auth'))).toBe(true);
    await upgraded.flush();
    const changed = open('manual', { configured: serverWith('other auth') });
    expect(await changed.canStart(serverWith('other auth'))).toBe(false);
  });

  test('trust on first use: does not begin again for a server with settings for signing in', async () => {
    const configured = serverWith('auth');
    const first = open('first-sight', { configured });
    await first.assess(offer({ a: 'x' }), undefined);
    await first.flush();
    const { tools } = await open('first-sight', { configured }).assess(offer({ a: 'y' }), undefined);
    expect(tools).toEqual([['a', 'changed']]);
  });

  describe('unreadable store', () => {
    test.each(['first-sight', 'scan', 'manual'] as const)(
      'unreadable store: approves nothing new with trust %s',
      async (trust) => {
        isBroken = true;
        const approvals = open(trust);
        expect((await approvals.assess(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'new']]);
        expect(approvals.problem).toBe('no such disk');
      },
    );

    test('unreadable store: keeps showing known entries and holds changed ones', async () => {
      const before = offer({ a: 'x', b: 'x' });
      const judged = { ...(await open().assess(before, undefined)) };
      isBroken = true;
      const approvals = open();
      expect((await approvals.assess(offer({ a: 'x', b: 'y' }), { ...before, judged })).tools).toEqual([
        ['b', 'changed'],
      ]);
    });

    test('unreadable store: reports the problem and trusts on first use again after a reload', async () => {
      isBroken = true;
      const approvals = open();
      const blindly = await approvals.assess(offer({ a: 'x' }), undefined);
      expect(blindly.basis).not.toBe(approvals.basis(one));
      await expect(approvals.reload()).rejects.toThrow('no such disk');
      isBroken = false;
      await approvals.reload();
      expect(approvals.problem).toBeUndefined();
      const before = { ...offer({ a: 'x' }), judged: blindly };
      expect(await approvals.assess(offer({ a: 'x' }), before)).toMatchObject({
        basis: approvals.basis(one),
        tools: [],
      });
    });

    test('unreadable store: keeps entries held when the store comes back empty', async () => {
      const earlier = open();
      const shown = { ...offer({ a: 'x' }), judged: await earlier.assess(offer({ a: 'x' }), undefined) };
      await earlier.flush();
      isBroken = true;
      const approvals = open();
      const judged = await approvals.assess(offer({ a: 'y' }, 'c1', 'Obey.'), shown);
      expect(judged).toMatchObject({ tools: [['a', 'changed']], words: { reason: 'changed' } });
      isBroken = false;
      await approvals.reload();
      const before = { ...offer({ a: 'y' }, 'c1', 'Obey.'), judged };
      // Deleting all rows has the same effect as losing the database and creating it again.
      await database.get().then(({ query }) => query.deleteFrom('approvals').execute());
      await approvals.reload();
      expect((await approvals.assess(offer({ a: 'y' }, 'c1', 'Obey.'), before)).tools).toEqual([
        ['a', 'new'],
      ]);
    });
  });

  describe('failed writes', () => {
    const evil = offer({ a: 'evil', b: 'x' }, 'c2');
    const held = [['a', 'changed']];

    test('failed write: is stored once the store accepts writes again', async () => {
      const approvals = open();
      await approvals.assess(offer({ a: 'x' }), undefined);
      await approvals.flush();
      isBroken = true;
      await approvals.assess(offer({ a: 'x', b: 'x' }, 'c2'), undefined);
      await approvals.flush();
      expect(approvals.hasUnwritten).toBe(true);
      await approvals.retryWrites();
      expect(approvals.hasUnwritten).toBe(true);
      isBroken = false;
      await approvals.retryWrites();
      expect(approvals.hasUnwritten).toBe(false);
      expect((await open().assess(evil, undefined)).tools).toEqual(held);
    });

    test.runIf(engine === 'sqlite')('failed write: survives a reload of the stored approvals', async () => {
      const approvals = open();
      await approvals.assess(offer({ a: 'x' }), undefined);
      await approvals.flush();
      const { query } = await database.get();
      await sql`pragma query_only = 1`.execute(query);
      await approvals.assess(offer({ a: 'x', b: 'x' }, 'c2'), undefined);
      await approvals.reload();
      expect(approvals.hasUnwritten).toBe(true);
      expect((await approvals.assess(evil, undefined)).tools).toEqual(held);
      await sql`pragma query_only = 0`.execute(query);
      await approvals.retryWrites();
      expect((await open().assess(evil, undefined)).tools).toEqual(held);
    });

    test('reload: keeps an approval that is made while it runs', async () => {
      const approvals = open();
      await approvals.assess(offer({ a: 'x' }), undefined);
      await approvals.flush();
      const reloaded = approvals.reload();
      // The reload is waiting for the database here, while this assessment needs no database access.
      await Promise.resolve();
      await approvals.assess(offer({ a: 'x', b: 'x' }, 'c2'), undefined);
      await reloaded;
      expect((await approvals.assess(evil, undefined)).tools).toEqual(held);
    });
  });

  test('lost store: keeps a fully held server held', async () => {
    const held = {
      ...offer({ a: 'y' }),
      judged: { basis: 'first-sight ', tools: [['a', 'changed']], prompts: [] },
    };
    const words = { reason: 'changed' as const, approved: {} };
    const before = { ...held, judged: { ...held.judged, tools: [['a', 'changed'] as const], words } };
    expect((await open().assess(offer({ a: 'y' }), before)).tools).toEqual([['a', 'new']]);
  });
});
