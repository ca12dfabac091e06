import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitest/config';

import { missingPrograms, testPrograms } from './scripts/test-programs.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** With REQUIRE_ALL=1 nothing is skipped, so a test whose program is missing fails. */
const missing = process.env['REQUIRE_ALL'] === '1' ? [] : missingPrograms();

// Tests of real processes. Five workers keep two cores busy while processes wait for each other.
const withProcesses = {
  extends: true,
  test: {
    pool: 'forks',
    maxWorkers: 5,
    // Only a hanging test reaches it: on a busy machine a test with many processes can take minutes.
    testTimeout: 300_000,
    hookTimeout: 180_000,
  },
} as const;

export default defineConfig({
  // The build inlines the version; tests that import the source need the same.
  define: { __TRUNKLINE_VERSION__: JSON.stringify(version), __TRUNKLINE_BUILD__: JSON.stringify(version) },
  test: {
    setupFiles: ['test/support/temporary-home.ts'],
    tags: [
      { name: 'every-cell', description: 'A further combination of transports and protocol eras.' },
      { name: 'slow', description: 'Takes seconds; npm test leaves it to npm run test:all.' },
      ...Object.entries(testPrograms).map(([name, { title }]) => ({
        name,
        description: `Needs ${title}.`,
        ...(missing.some((one) => one === name) && { skip: true }),
      })),
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'bench/**/*.test.mjs'],
          // No module keeps state, so files need no worker of their own; that halves the time.
          isolate: false,
          maxWorkers: 3,
          // Only a hanging test reaches it, even on a busy machine.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...withProcesses,
        test: {
          ...withProcesses.test,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // After the unit tests: they would disturb the timing of real processes.
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...withProcesses,
        test: {
          ...withProcesses.test,
          name: 'postgres',
          // The unit tests that store something, on PostgreSQL instead of SQLite (test/support/each-engine.ts).
          include: ['src/**/*.database.test.ts'],
          env: { TEST_DATABASE: 'postgres' },
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...withProcesses,
        test: {
          ...withProcesses.test,
          name: 'system',
          // The servers and clients of test/support are tested here, too.
          include: ['test/system/**/*.test.ts', 'test/soak/**/*.test.ts', 'test/support/**/*.test.ts'],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
