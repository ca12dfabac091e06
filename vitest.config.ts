import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export default defineConfig({
  // The build inlines the version; tests that import the source need the same.
  define: { __TRUNKLINE_VERSION__: JSON.stringify(version), __TRUNKLINE_BUILD__: JSON.stringify(version) },
  test: {
    setupFiles: ['test/support/throw-away-home.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'bench/**/*.test.mjs'],
          // No module keeps state, so files need no world of their own; that halves the time.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 2,
          // Only what hangs meets it; on a machine with other work a scenario of many processes takes half a minute.
          testTimeout: 90_000,
          hookTimeout: 60_000,
          // After the unit tests, so that timing in real processes is not disturbed by them.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
