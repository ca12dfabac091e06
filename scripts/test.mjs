// npm test: everything, or the files that the arguments name.

import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';
import { ensurePrograms } from './ensure-programs.mjs';
import { ensure } from './ensure.mjs';

ensure();
ensurePrograms();
await build();

const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url);
process.argv = [process.execPath, fileURLToPath(vitest), 'run', ...process.argv.slice(2)];
await import(vitest.href);
