import { TestRunner } from 'vitest';

import { missingPrograms, type TestProgram } from '../../scripts/test-programs.mjs';

/**
 * Declares that the tests of this file use programs that may be missing. Call it at the top of the file. The tests are
 * skipped if a program is missing, or fail if REQUIRE_ALL=1 is set. A single test declares the same with a tag:
 * `test('…', { tags: ['fish'] }, …)`.
 */
export function needs(...programs: readonly TestProgram[]): void {
  TestRunner.getCurrentSuite().file.tags?.push(...programs);
  if (process.env['REQUIRE_ALL'] !== '1') return;
  const missing = missingPrograms().filter((name) => programs.includes(name));
  if (missing.length > 0)
    throw new Error(`REQUIRE_ALL=1 is set, but ${missing.join(', ')} is missing. Run: npm run test:setup`);
}
