import { beforeAll, describe } from 'vitest';

import type { StorePlace } from '../../src/storage/store-place.ts';
import { sharedPostgres } from './postgres.ts';

export type Engine = 'sqlite' | 'postgres';

/** What stores something is tested on both databases, by the same tests. `newStore` gives an empty one. */
export function eachEngine(
  define: (engine: Engine, newStore: (stateDir: string) => Promise<StorePlace>) => void,
): void {
  describe('on sqlite', () => {
    define('sqlite', (stateDir) => Promise.resolve({ stateDir }));
  });
  describe('on postgres', () => {
    beforeAll(async () => void (await sharedPostgres()), 90_000);
    define('postgres', async (stateDir) => ({ stateDir, server: await (await sharedPostgres()).newPlace() }));
  });
}
