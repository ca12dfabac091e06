import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';

import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { hasDatabase, openDatabase } from '../core/storage/database.ts';
import { LazyDatabase } from '../core/storage/lazy-database.ts';
import type { StoreLocation } from '../core/storage/store-location.ts';
import type { EraVerdictCache } from './era-verdict-cache.ts';
import { ListingCache } from './listing-cache.ts';
import { readWarmFile } from './warm-file.ts';

const HOUR = 60 * 60 * 1000;
const [a, b, gone] = ['a', 'b', 'gone'] as unknown as [Fingerprint, Fingerprint, Fingerprint];
const upstreams = [a, b].map((fingerprint) => ({
  name: `server ${fingerprint}` as UpstreamName,
  fingerprint,
}));
const modern = { era: 'modern', protocol: '2026-07-28' } as const;
const legacy = { era: 'legacy', protocol: '2025-06-18' } as const;

let stateDir: string;
let place: StoreLocation;
let now = 1_800_000_000_000;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-eras-'));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

/** One run of the program. */
async function run(work: (eras: EraVerdictCache) => void): Promise<void> {
  await using database = new LazyDatabase(() => openDatabase(place));
  await using cache = new ListingCache({
    stateDir,
    build: '1.0.0',
    warm: readWarmFile(stateDir, '1.0.0'),
    database: () => database.get(),
    isStored: () => hasDatabase(place),
    now: () => now,
  });
  await cache.restore(upstreams);
  work(cache.eras);
}

eachEngine((_engine, newStore) => {
  beforeEach(async () => {
    place = await newStore(stateDir);
  });

  describe('protocol eras', () => {
    test('era memory: survives restarts in the file and the database for configured servers only', async () => {
      await run((eras) => {
        eras.remember(a, modern);
        eras.remember(b, legacy);
        eras.remember(gone, modern);
      });
      for (const isFileLost of [false, true]) {
        if (isFileLost) rmSync(join(stateDir, 'catalog.json'));
        await run((eras) => {
          expect(eras.recall(a)).toEqual({ ...modern, at: now });
          expect(eras.recall(b)).toEqual({ ...legacy, at: now });
          expect(eras.recall(gone)).toBeUndefined();
        });
      }
      await using database = await openDatabase(place);
      const rows = await database.query
        .selectFrom('eras')
        .select('fingerprint')
        .orderBy('fingerprint')
        .execute();
      expect(rows.map(({ fingerprint }) => fingerprint)).toEqual([a, b]);
    });

    test('era memory: forgets a legacy era a day after it was detected', async () => {
      await run((eras) => {
        eras.remember(a, legacy);
        eras.remember(b, modern);
        now += 23 * HOUR;
        eras.remember(a, legacy);
        expect(eras.recall(a)).toBeDefined();
        now += 2 * HOUR;
        expect(eras.recall(a)).toBeUndefined();
        expect(eras.recall(b)).toBeDefined();
        eras.remember(a, legacy);
        expect(eras.recall(a)?.at).toBe(now);
      });
    });

    test('era memory: forgets a legacy era from the future', async () => {
      await run((eras) => {
        eras.remember(a, legacy);
        now -= 48 * HOUR;
        expect(eras.recall(a)).toBeUndefined();
      });
    });

    test('era memory: replaces a legacy era when the server supports the modern protocol', async () => {
      await run((eras) => eras.remember(a, legacy));
      await run((eras) => eras.remember(a, modern));
      rmSync(join(stateDir, 'catalog.json'));
      await run((eras) => expect(eras.recall(a)?.era).toBe('modern'));
    });
  });
});
