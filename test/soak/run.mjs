// npm run soak: random load and faults against the built gateway, with what must hold checked all along. See docs/decisions/soak.md.

import { register } from 'node:module';

import { build } from '../../scripts/build.mjs';
import { ensurePrograms } from '../../scripts/ensure-programs.mjs';
import { ensure } from '../../scripts/ensure.mjs';

ensure();
ensurePrograms();
await build();
register('./typescript-hooks.mjs', import.meta.url);
const { soak } = await import('./soak.ts');
// Not merely a code: after a failure clients may still be asking, and the compiler waits for more files.
process.exit(await soak(process.argv.slice(2)));
