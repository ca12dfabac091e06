import { beforeAll, describe } from 'vitest';

import type { StoreLocation } from '../../src/core/storage/store-location.ts';
import { needs } from './needs.ts';
import { sharedPostgres } from './postgres.ts';

const isOnPostgres = process.env['TEST_DATABASE'] === 'postgres';

export type Engine = 'sqlite' | 'postgres';

/**
 * Defines tests of code that stores something. `newStore` returns an empty database. The unit tier runs them on SQLite; the
 * vitest project `postgres` runs the same files (`*.database.test.ts`) on PostgreSQL.
 */
export function eachEngine(
  define: (engine: Engine, newStore: (stateDir: string) => Promise<StoreLocation>) => void,
): void {
  if (isOnPostgres) needs('postgresql');
  describe(`on ${isOnPostgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    beforeAll(async () => void (isOnPostgres && (await sharedPostgres())), 90_000);
    define(isOnPostgres ? 'postgres' : 'sqlite', async (stateDir) =>
      isOnPostgres ? { stateDir, server: await (await sharedPostgres()).newSchema() } : { stateDir },
    );
  });
}
