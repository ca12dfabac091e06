import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** Environment variables that pass the run to all processes of the test file. */
export const runVariable = 'TRUNKLINE_TEST_RUN';
export const folderVariable = 'TRUNKLINE_TEST_FOLDER';

interface TestRun {
  /** Unique per test file; every process of the file has it in its environment or command line. */
  readonly id: string;
  /** The test file writes only below this folder. */
  readonly folder: string;
}

/** Returns the run that the setup file (`temporary-home.ts`) started for this test file. */
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

/** Creates a folder that is removed when the test file ends. */
export function temporaryFolder(name = 'folder'): string {
  return mkdtempSync(join(testRun().folder, `${name}-`));
}
