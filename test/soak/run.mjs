// npm run soak: runs random load and faults against the built gateway and checks invariants throughout. See docs/decisions/soak.md.

import { register } from 'node:module';

import { build } from '../../scripts/build.mjs';
import { ensure } from '../../scripts/ensure.mjs';

ensure();
await build();
register('./typescript-hooks.mjs', import.meta.url);
const { soak } = await import('./soak.ts');
// Exit explicitly: after a failure clients may still send requests, and the compiler waits for more files.
process.exit(await soak(process.argv.slice(2)));
