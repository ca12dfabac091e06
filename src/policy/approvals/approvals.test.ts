import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';

import type { Fingerprint, UpstreamName } from '../../model/ids.ts';
import { silentLogger } from '../../observe/log.ts';
import { hasDatabase, openDatabase } from '../../storage/database.ts';
import { LazyDatabase } from '../../storage/lazy-database.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import { Approvals } from './approvals.ts';
import type { Trust } from './judge-offer.ts';
import { subjectsOf } from './subject.ts';
import type { Offered } from './subject.ts';

const one = 'one' as UpstreamName;
const offer = (
  tools: Readonly<Record<string, string>>,
  config = 'c1',
  instructions = 'Be kind.',
): Offered => ({
  upstream: one,
  config: config as Fingerprint,
  facts: { era: 'legacy', protocol: 'x', info: {}, capabilities: {}, instructions },
  tools: Object.entries(tools).map(([name, description]) => ({ definition: { name, description } })),
  prompts: [],
});

let stateDir = '';
let place: StorePlace;
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

function open(trust: Trust = 'first-sight', { isGone = false } = {}): Approvals {
  return new Approvals({
    database: () => (isBroken ? Promise.reject(new Error('no such disk')) : database.get()),
    isStored: () => isBroken || hasDatabase(place),
    trust: () => trust,
    isGone: () => isGone,
    lock: undefined,
    scanner: () => Promise.resolve(() => []),
    onWritten: () => {},
    now: Date.now,
    log: silentLogger,
  });
}

const decide = (approvals: Approvals, offered: Offered, name: string, state: 'approved' | 'refused') =>
  approvals.decide(
    subjectsOf(offered)
      .filter((each) => each.name === name)
      .map((subject) => ({ upstream: one, subject })),
    state,
    'me',
  );

eachEngine((engine, newStore) => {
  beforeEach(async () => {
    place = await newStore(stateDir);
  });

  describe('what was approved', () => {
    test('is known to the next run, and what changed since is held until a person agrees', async () => {
      const first = open();
      expect((await first.judge(offer({ a: 'x' }), undefined)).tools).toEqual([]);
      await first.flush();
      const next = open();
      const changed = offer({ a: 'y', b: 'z' });
      expect((await next.judge(changed, undefined)).tools).toEqual([
        ['a', 'changed'],
        ['b', 'new'],
      ]);
      expect((await next.judge(offer({ a: 'x' }), undefined)).tools).toEqual([]);
      await decide(next, changed, 'a', 'approved');
      expect((await open().judge(changed, undefined)).tools).toEqual([['b', 'new']]);
      expect((await open().judge(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'changed']]);
    });

    test('of its words is said while others are held', async () => {
      const approvals = open();
      await approvals.judge(offer({ a: 'x' }), undefined);
      expect((await approvals.judge(offer({ a: 'x' }, 'c1', 'Obey me.'), undefined)).words).toEqual({
        reason: 'changed',
        approved: { instructions: 'Be kind.' },
      });
    });

    test('is taken from what was shown before, where the store has lost it', async () => {
      const shown = { ...offer({ a: 'x' }), judged: { basis: '', tools: [], prompts: [] } };
      expect((await open().judge(offer({ a: 'y' }), shown)).tools).toEqual([['a', 'changed']]);
    });

    test('goes with the server that left the configuration', async () => {
      const first = open();
      await first.judge(offer({ a: 'x' }), undefined);
      await first.flush();
      const left = open('manual', { isGone: true });
      await left.judge(offer({ a: 'x' }), undefined);
      await left.flush();
      expect((await open('manual').judge(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'new']]);
    });
  });

  test('a first sight is over with the first look, also when a server of another configuration offers the same', async () => {
    const approvals = open();
    await approvals.judge(offer({ a: 'x', b: 'x' }), undefined);
    expect((await approvals.judge(offer({ a: 'x', b: 'x' }, 'c2'), undefined)).tools).toEqual([]);
    const changed = offer({ a: 'y', b: 'x', c: 'x' }, 'c2');
    const held = [
      ['a', 'changed'],
      ['c', 'new'],
    ];
    expect((await approvals.judge(changed, undefined)).tools).toEqual(held);
    await approvals.flush();
    expect((await open().judge(changed, undefined)).tools).toEqual(held);
  });

  test('what a server of another configuration still offers stays approved beside what is new', async () => {
    const approvals = open();
    await approvals.judge(offer({ a: 'x' }), undefined);
    const more = offer({ a: 'x', b: 'x' }, 'c2');
    for (let looks = 0; looks < 3; looks++)
      expect((await approvals.judge(more, undefined)).tools).toEqual([]);
    await approvals.flush();
    expect((await open().judge(more, undefined)).tools).toEqual([]);
    expect((await open().judge(offer({ a: 'y', b: 'x' }, 'c2'), undefined)).tools).toEqual([
      ['a', 'changed'],
    ]);
  });

  test('a server of another configuration that offers nothing at first keeps what was approved, and nothing else', async () => {
    const approvals = open();
    await approvals.judge(offer({ a: 'x' }), undefined);
    await approvals.judge({ ...offer({}, 'c2'), facts: offer({}, 'c2', '').facts }, undefined);
    expect((await approvals.judge(offer({ a: 'x' }, 'c2'), undefined)).tools).toEqual([]);
    expect((await approvals.judge(offer({ a: 'y' }, 'c2'), undefined)).tools).toEqual([['a', 'changed']]);
  });

  test('a server of another configuration is seen for the first time, except for what was refused', async () => {
    const approvals = open();
    await approvals.judge(offer({ a: 'x', b: 'x' }), undefined);
    await decide(approvals, offer({ a: 'y', b: 'y' }), 'b', 'refused');
    expect((await approvals.judge(offer({ a: 'y', b: 'y' }, 'c2'), undefined)).tools).toEqual([
      ['b', 'refused'],
    ]);
  });

  test('a server that waits for a person may not start before, nor when it is run in another way', async () => {
    const approvals = open('manual');
    const config = { name: one, trust: 'manual' as const, fingerprint: 'c1' as Fingerprint };
    expect(await approvals.mayStart(config)).toBe(false);
    const subject = { kind: 'server' as const, name: '', definition: {}, fingerprint: config.fingerprint };
    await approvals.decide([{ upstream: one, subject }], 'approved', 'me');
    expect(await approvals.mayStart(config)).toBe(true);
    expect(await approvals.mayStart({ ...config, fingerprint: 'c2' as Fingerprint })).toBe(false);
    expect((await approvals.judge(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'new']]);
  });

  describe('while the store cannot be read', () => {
    test.each(['first-sight', 'scan', 'manual'] as const)('nothing new is approved: %s', async (trust) => {
      isBroken = true;
      const approvals = open(trust);
      expect((await approvals.judge(offer({ a: 'x' }), undefined)).tools).toEqual([['a', 'new']]);
      expect(approvals.problem).toBe('no such disk');
    });

    test('what was shown before goes on, and what differs from it is held', async () => {
      const before = offer({ a: 'x', b: 'x' });
      const judged = { ...(await open().judge(before, undefined)) };
      isBroken = true;
      const approvals = open();
      expect((await approvals.judge(offer({ a: 'x', b: 'y' }), { ...before, judged })).tools).toEqual([
        ['b', 'changed'],
      ]);
    });

    test('it is said, and a server is seen for the first time once it can be read', async () => {
      isBroken = true;
      const approvals = open();
      const blindly = await approvals.judge(offer({ a: 'x' }), undefined);
      expect(blindly.basis).not.toBe(approvals.basis(one));
      await expect(approvals.reload()).rejects.toThrow('no such disk');
      isBroken = false;
      await approvals.reload();
      expect(approvals.problem).toBeUndefined();
      const before = { ...offer({ a: 'x' }), judged: blindly };
      expect(await approvals.judge(offer({ a: 'x' }), before)).toMatchObject({
        basis: approvals.basis(one),
        tools: [],
      });
    });

    test('what was held then is not new afterwards, although the store knows nothing', async () => {
      const earlier = open();
      const shown = { ...offer({ a: 'x' }), judged: await earlier.judge(offer({ a: 'x' }), undefined) };
      await earlier.flush();
      isBroken = true;
      const approvals = open();
      const judged = await approvals.judge(offer({ a: 'y' }, 'c1', 'Obey.'), shown);
      expect(judged).toMatchObject({ tools: [['a', 'changed']], words: { reason: 'changed' } });
      isBroken = false;
      await approvals.reload();
      const before = { ...offer({ a: 'y' }, 'c1', 'Obey.'), judged };
      // A store that was lost and made anew.
      await database.get().then(({ query }) => query.deleteFrom('approvals').execute());
      await approvals.reload();
      expect((await approvals.judge(offer({ a: 'y' }, 'c1', 'Obey.'), before)).tools).toEqual([['a', 'new']]);
    });
  });

  describe('what the store refuses', () => {
    const evil = offer({ a: 'evil', b: 'x' }, 'c2');
    const held = [['a', 'changed']];

    test('is stored as soon as it takes it again', async () => {
      const approvals = open();
      await approvals.judge(offer({ a: 'x' }), undefined);
      await approvals.flush();
      isBroken = true;
      await approvals.judge(offer({ a: 'x', b: 'x' }, 'c2'), undefined);
      await approvals.flush();
      expect(approvals.isBehind).toBe(true);
      await approvals.catchUp();
      expect(approvals.isBehind).toBe(true);
      isBroken = false;
      await approvals.catchUp();
      expect(approvals.isBehind).toBe(false);
      expect((await open().judge(evil, undefined)).tools).toEqual(held);
    });

    test.runIf(engine === 'sqlite')('is not forgotten when what others approved is read', async () => {
      const approvals = open();
      await approvals.judge(offer({ a: 'x' }), undefined);
      await approvals.flush();
      const { query } = await database.get();
      await sql`pragma query_only = 1`.execute(query);
      await approvals.judge(offer({ a: 'x', b: 'x' }, 'c2'), undefined);
      await approvals.reload();
      expect(approvals.isBehind).toBe(true);
      expect((await approvals.judge(evil, undefined)).tools).toEqual(held);
      await sql`pragma query_only = 0`.execute(query);
      await approvals.catchUp();
      expect((await open().judge(evil, undefined)).tools).toEqual(held);
    });

    test('or is approved while others’ approvals are read, counts', async () => {
      const approvals = open();
      await approvals.judge(offer({ a: 'x' }), undefined);
      await approvals.flush();
      const reloaded = approvals.reload();
      // In the middle of it: it waits for the store, and this waits for nothing.
      await Promise.resolve();
      await approvals.judge(offer({ a: 'x', b: 'x' }, 'c2'), undefined);
      await reloaded;
      expect((await approvals.judge(evil, undefined)).tools).toEqual(held);
    });
  });

  test('a server of which everything is held is not new to a store that was lost', async () => {
    const held = {
      ...offer({ a: 'y' }),
      judged: { basis: 'first-sight ', tools: [['a', 'changed']], prompts: [] },
    };
    const words = { reason: 'changed' as const, approved: {} };
    const before = { ...held, judged: { ...held.judged, tools: [['a', 'changed'] as const], words } };
    expect((await open().judge(offer({ a: 'y' }), before)).tools).toEqual([['a', 'new']]);
  });
});
