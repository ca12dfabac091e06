import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import type { Fingerprint } from '../../core/ids.ts';
import { DiscoveryCache } from './discovery-cache.ts';

const DAY = 24 * 3_600_000;
const key = { config: 'c' as Fingerprint, version: '1', files: ['/bin/x 1 2'] };
let stateDir: string;
let now: number;
let cache: DiscoveryCache;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'trunkline-cli-'));
  now = 100 * DAY;
  cache = new DiscoveryCache({ stateDir, now: () => now });
});

afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

test('discovery cache: keeps a result for a week, a doubtful one for a day', async () => {
  await cache.remember(key, [], { isDoubtful: false });
  now += 7 * DAY - 1;
  expect(await cache.recall(key)).toEqual([]);
  now += 1;
  expect(await cache.recall(key)).toBeUndefined();
  await cache.remember(key, [], { isDoubtful: true });
  now += DAY - 1;
  expect(await cache.recall(key)).toEqual([]);
  now += 1;
  expect(await cache.recall(key)).toBeUndefined();
});

test('discovery cache: misses for another program or version, a future time and a damaged file', async () => {
  await cache.remember(key, [], { isDoubtful: false });
  expect(await cache.recall({ ...key, version: '2' })).toBeUndefined();
  expect(await cache.recall({ ...key, files: ['/bin/x 1 3'] })).toBeUndefined();
  now -= 1;
  expect(await cache.recall(key)).toBeUndefined();
  now += 1;
  writeFileSync(join(stateDir, 'cli-tools', 'c.json'), '{');
  expect(await cache.recall(key)).toBeUndefined();
});
