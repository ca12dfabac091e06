import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** Names under which the set-up tells its run to everything that is started from it. */
export const runVariable = 'TRUNKLINE_TEST_RUN';
export const folderVariable = 'TRUNKLINE_TEST_FOLDER';

interface TestRun {
  /** Unique per test file; every process of the file carries it in its environment or on its command line. */
  readonly id: string;
  /** Everything the file writes lies below this folder. */
  readonly folder: string;
}

/** The run that the set-up (`temporary-home.ts`) began for this test file. */
export function testRun(): TestRun {
  const id = process.env[runVariable];
  const folder = process.env[folderVariable];
  if (id === undefined || folder === undefined) {
    throw new Error(
      'No run was set up: test/support/temporary-home.ts must be among the setupFiles of vitest.',
    );
  }
  return { id, folder };
}

/** A new folder that goes when the test file ends. */
export function temporaryFolder(name = 'folder'): string {
  return mkdtempSync(join(testRun().folder, `${name}-`));
}
