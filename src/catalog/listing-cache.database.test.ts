import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';

import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { GatewayError } from '../core/errors.ts';
import { hasDatabase, openDatabase } from '../core/storage/database.ts';
import type { Database } from '../core/storage/database.ts';
import { LazyDatabase } from '../core/storage/lazy-database.ts';
import type { StoreLocation } from '../core/storage/store-location.ts';
import { ListingCache } from './listing-cache.ts';
import type { ListingCacheOptions, UpstreamIdentity } from './listing-cache.ts';
import { readListing } from './listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { Listing } from './listing.ts';
import { readWarmFile } from './warm-file.ts';

let stateDir: string;
let place: StoreLocation;
let now = 1_800_000_000_000;
const HOUR = 60 * 60 * 1000;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-cache-'));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const upstream = (text: string, fingerprint = `config of ${text}`): UpstreamIdentity => ({
  name: text as UpstreamName,
  fingerprint: fingerprint as Fingerprint,
});

function listing(text: string, tools: readonly string[], change: Partial<Listing> = {}): Listing {
  const facts = {
    era: 'legacy' as const,
    protocol: '2025-11-25',
    info: { name: text },
    capabilities: { tools: {} },
  };
  const raw = {
    facts,
    tools: tools.map((tool) => ({ name: tool, note: '\uE000exact:1e400 é' })),
    prompts: [],
    resources: [],
    templates: [],
  };
  const about = { upstream: text as UpstreamName, config: upstream(text).fingerprint, at: now };
  return { ...completeAtOnce(readListing(raw, about)).listing, ...change };
}

/** One run of the program: a cache on the folder, closed at the end. */
async function run<T>(
  work: (cache: ListingCache, log: string[]) => Promise<T>,
  change: Partial<ListingCacheOptions> = {},
): Promise<T> {
  const log: string[] = [];
  await using database = new LazyDatabase(() => openDatabase(place));
  await using cache = new ListingCache({
    stateDir,
    build: '1.0.0',
    warm: readWarmFile(stateDir, '1.0.0'),
    database: () => database.get(),
    isStored: () => hasDatabase(place),
    now: () => now,
    log: { warn: (message, fields) => log.push(`${message} ${String(fields?.['reason'])}`) },
    ...change,
  });
  return await work(cache, log);
}

async function rows<T>(read: (database: Database) => Promise<T>): Promise<T> {
  await using database = await openDatabase(place);
  return await read(database);
}
const storedNames = () =>
  rows(async ({ query }) =>
    (await query.selectFrom('listings').select('upstream').orderBy('upstream').execute()).map(
      (row) => row.upstream,
    ),
  );
const toolsOf = (listings: readonly Listing[]) =>
  Object.fromEntries(
    listings.map((one) => [one.upstream, one.tools.map(({ definition }) => definition.name)]),
  );
const forbidden = () => Promise.reject(new Error('The database was opened.'));
const both = [upstream('a'), upstream('b')];

eachEngine((engine, newStore) => {
  beforeEach(async () => {
    place = await newStore(stateDir);
  });

  describe('restart', () => {
    test('restart: restores listings from catalog.json without the database', async () => {
      const before = await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['x']));
        cache.save(listing('b', ['y', 'z']));
        return [listing('a', ['x']), listing('b', ['y', 'z'])];
      });
      const after = await run((cache) => cache.restore(both), { database: forbidden });
      expect(after).toEqual(before);
    });

    test('restart: restores listings from the database when catalog.json is missing, damaged or outdated', async () => {
      await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['x']));
        cache.eras.remember('f' as Fingerprint, { era: 'modern', protocol: '2026-07-28' });
      });
      const file = join(stateDir, 'catalog.json');
      const text = readFileSync(file, 'utf8');
      for (const damage of [
        undefined,
        '',
        text.slice(0, -100),
        '[]',
        text.replace('1.0.0', '0.9.0'),
        text.replace('"tools":[{', '"tools":[null,{'),
      ]) {
        rmSync(file);
        if (damage !== undefined) writeFileSync(file, damage);
        expect(readWarmFile(stateDir, '1.0.0')).toBeUndefined();
        expect(toolsOf(await run((cache) => cache.restore(both)))).toEqual({ a: ['x'] });
        expect(readWarmFile(stateDir, '1.0.0')?.listings).toHaveLength(1);
      }
    });

    test('restart: keeps one listing per server after three restarts', async () => {
      for (let time = 0; time < 3; time++) {
        now += HOUR;
        const restored = await run(async (cache) => {
          const listings = await cache.restore(both);
          cache.save(listing('a', ['x', `x${time}`]));
          cache.save(listing('b', ['y']));
          return listings;
        });
        expect(Object.keys(toolsOf(restored))).toEqual(time === 0 ? [] : ['a', 'b']);
      }
      expect(await storedNames()).toEqual(['a', 'b']);
      expect(toolsOf(readWarmFile(stateDir, '1.0.0')!.listings)).toEqual({ a: ['x', 'x2'], b: ['y'] });
    });

    test('restart: removes listings of removed servers and of changed configs from file and database', async () => {
      await run(async (cache) => {
        await cache.restore([...both, upstream('c')]);
        for (const text of ['a', 'b', 'c']) cache.save(listing(text, ['x']));
      });
      expect(await storedNames()).toEqual(['a', 'b', 'c']);
      now += HOUR;
      const restored = await run((cache) => cache.restore([upstream('a'), upstream('b', 'changed')]));
      expect(Object.keys(toolsOf(restored))).toEqual(['a']);
      expect(await storedNames()).toEqual(['a']);
      expect(Object.keys(toolsOf(readWarmFile(stateDir, '1.0.0')!.listings))).toEqual(['a']);
    });

    test('restart: keeps a recent listing that another gateway stored', async () => {
      await run(async (cache) => {
        await cache.restore([...both, upstream('c')]);
        cache.save(listing('c', ['x']));
      });
      rmSync(join(stateDir, 'catalog.json'));
      await run(async (cache) => {
        await cache.restore(both);
        cache.retain([...both, upstream('c')]);
        await cache.reload();
        expect(toolsOf(await cache.restore([...both, upstream('c')]))).toEqual({ c: ['x'] });
      });
      expect(await storedNames()).toEqual(['c']);
    });

    test('restart: keeps no listing of a server that was removed at run time', async () => {
      await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['x']));
        cache.save(listing('b', ['y']));
        cache.retain([upstream('b')]);
        cache.save(listing('a', ['too late']));
      });
      expect(await storedNames()).toEqual(['b']);
      expect(toolsOf(readWarmFile(stateDir, '1.0.0')!.listings)).toEqual({ b: ['y'] });
    });

    test('restart: removes what was learned about results of servers that were removed meanwhile', async () => {
      const shape = { tool: 'x', fingerprint: 'x', body: '{}', saved_at: now };
      await run(async (cache) => {
        await cache.restore(both);
        for (const text of ['a', 'b']) cache.save(listing(text, ['x']));
      });
      await rows(({ query }) =>
        query
          .insertInto('result_shapes')
          .values([
            { ...shape, upstream: 'a' },
            { ...shape, upstream: 'b' },
            { ...shape, upstream: 'new at another gateway', saved_at: now + HOUR },
          ])
          .execute(),
      );
      now += HOUR;
      await run((cache) => cache.restore([upstream('a')]));
      const left = await rows(({ query }) =>
        query.selectFrom('result_shapes').select('upstream').orderBy('upstream').execute(),
      );
      expect(left).toEqual([{ upstream: 'a' }, { upstream: 'new at another gateway' }]);
    });

    test('restart: remembers the validated config', async () => {
      const snapshot = { file: '/x', value: { upstreams: [] } };
      await run(async (cache) => {
        await cache.restore([]);
        cache.rememberConfig({ revision: 'r1', snapshot });
      });
      expect(readWarmFile(stateDir, '1.0.0')?.config).toEqual({ revision: 'r1', snapshot });
      await run((cache) => cache.restore([]));
      expect(readWarmFile(stateDir, '1.0.0')?.config?.revision).toBe('r1');
    });
  });

  test.runIf(engine === 'sqlite')('first start: creates no database until it writes', async () => {
    await run(async (cache, log) => {
      expect(await cache.restore(both)).toEqual([]);
      expect(existsSync(join(stateDir, 'trunkline.db'))).toBe(false);
      expect(log).toEqual([]);
    });
    expect(existsSync(join(stateDir, 'trunkline.db'))).toBe(true);
  });

  describe('writing', () => {
    test('write: batches many changes and happens before close', async () => {
      await run(
        async (cache) => {
          await cache.restore(both);
          for (let time = 0; time < 10; time++) cache.save(listing('a', [`x${time}`]));
          expect(existsSync(join(stateDir, 'catalog.json'))).toBe(false);
          await expect.poll(() => readWarmFile(stateDir, '1.0.0')?.listings.length).toBe(1);
        },
        { saveAfterMs: 20 },
      );
      expect(toolsOf(readWarmFile(stateDir, '1.0.0')!.listings)).toEqual({ a: ['x9'] });
      expect(readdirSync(stateDir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    });

    test('write: skips the database when only the time changed', async () => {
      await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['x']));
      });
      now += HOUR;
      await run(
        async (cache, log) => {
          await cache.restore(both);
          cache.save(listing('a', ['x']));
          await cache.flush();
          expect(log).toEqual([]);
        },
        { database: forbidden },
      );
      expect(readWarmFile(stateDir, '1.0.0')?.listings[0]?.at).toBe(now);
    });

    test('write: creates catalog.json with mode 0600', async () => {
      await run((cache) => cache.restore([]));
      expect(statSync(join(stateDir, 'catalog.json')).mode & 0o777).toBe(0o600);
    });

    test('write: logs a failing database once and catches up in the next run', async () => {
      const broken = () => Promise.reject(new GatewayError('STORE_LOCKED', 'The disk is full.'));
      await run(
        async (cache, log) => {
          expect(await cache.restore(both)).toEqual([]);
          cache.save(listing('a', ['x']));
          await cache.flush();
          cache.save(listing('b', ['y']));
          await cache.flush();
          expect(log).toEqual([
            'Cannot store listings in the database; they are kept in memory until it works again. The disk is full.',
          ]);
        },
        { database: broken },
      );
      await run(async (cache) => {
        expect(Object.keys(toolsOf(await cache.restore(both)))).toEqual(['a', 'b']);
        cache.save(listing('b', ['y']));
      });
      expect(await storedNames()).toEqual(['a', 'b']);
    });

    test('write: logs a failing catalog.json and carries on', async () => {
      const inTheWay = join(stateDir, 'file');
      writeFileSync(inTheWay, '');
      chmodSync(inTheWay, 0o400);
      await run(
        async (cache, log) => {
          await cache.restore(both);
          cache.save(listing('a', ['x']));
          await cache.flush();
          expect(
            log.some((line) => line.startsWith('Cannot write catalog.json; the next start will be slower.')),
          ).toBe(true);
        },
        { stateDir: join(inTheWay, 'state') },
      );
    });
  });

  describe('two processes', () => {
    test('two processes: exchange newer listings when they write', async () => {
      await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['old']));
      });
      const found: unknown[] = [];
      await run(async (cache) => {
        await cache.restore(both);
        cache.events.on('found', (listings) => found.push(toolsOf(listings)));
        now += HOUR;
        await run(async (other) => {
          await other.restore(both);
          other.save(listing('a', ['new']));
        });
        cache.save(listing('b', ['y']));
        await cache.flush();
      });
      expect(found).toEqual([{ a: ['new'] }]);
      expect(toolsOf(readWarmFile(stateDir, '1.0.0')!.listings)).toEqual({ a: ['new'], b: ['y'] });
    });

    test('two processes: keep separate listings for different configs without rewriting each other', async () => {
      await using database = await openDatabase(place);
      const count = async () =>
        (await database.query.selectFrom('changes').selectAll().execute())[0]?.revision;
      const theirs = upstream('a', 'another config');
      await run(async (one) => {
        await one.restore([upstream('a')]);
        one.save(listing('a', ['ours']));
        await one.flush();
        now += HOUR;
        await run(
          async (other) => {
            await other.restore([theirs]);
            other.save(listing('a', ['theirs'], { config: theirs.fingerprint }));
            await other.flush();
            const before = await count();
            for (const cache of [one, other, one, other]) await cache.reload();
            expect(await count()).toBe(before);
          },
          { stateDir: join(stateDir, 'other') },
        );
        now += HOUR;
        one.save(listing('a', ['changed']));
        await one.flush();
      });
      rmSync(join(stateDir, 'catalog.json'));
      expect(toolsOf(await run((cache) => cache.restore([upstream('a')])))).toEqual({ a: ['changed'] });
    });

    test('two processes: replace a listing from the future', async () => {
      await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['future'], { at: now + 1000 * HOUR }));
      });
      await run(async (cache) => {
        await cache.restore(both);
        cache.save(listing('a', ['present']));
      });
      rmSync(join(stateDir, 'catalog.json'));
      expect(toolsOf(await run((cache) => cache.restore(both)))).toEqual({ a: ['present'] });
    });
  });
});
