import { afterAll } from 'vitest';

import { beginRun } from './begin-run.ts';

// A set-up file of vitest: it runs before the test file and so before anything of ours is imported. No test may read the
// configuration or write into the home of whoever runs it.

const remove = beginRun();

// Hooks run in reverse order, so everything that a test file opened is closed by now.
afterAll(remove);
