import { afterAll } from 'vitest';

import { beginRun } from './begin-run.ts';

// A setup file of vitest, which runs before the test file and its imports. No test may read the
// configuration or write into the home of the user who runs it.

const remove = beginRun();

// Hooks run in reverse order, so the test file has closed everything by now.
afterAll(remove);
