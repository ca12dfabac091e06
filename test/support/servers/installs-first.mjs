#!/usr/bin/env node
// Behaves like `npx -y PACKAGE`: installs the package into the folder INSTALL_CACHE unless it is there, then serves. It installs
// until the file `PACKAGE.go` exists, and writes a file meanwhile unless it has the option `--idle`. If it is killed while it
// installs, the package stays damaged, and every later start fails.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';

const [, name] = process.argv.slice(2);
const file = (end) => join(process.env.INSTALL_CACHE, `${name}.${end}`);

await serve((options) => ({
  name: 'installs-first',
  ...plainOffer(),
  async beforeServing() {
    if (existsSync(file('installed'))) return;
    if (existsSync(file('part'))) {
      note('damaged', { name });
      process.exit(1);
    }
    writeFileSync(file('part'), '');
    note('installing', { name });
    while (!existsSync(file('go'))) {
      if (!options.has('idle')) {
        appendFileSync(file('part'), 'x'.repeat(2000));
        // Like npm, it fails if it cannot write its warnings.
        process.stderr.write('warn deprecated\n');
      }
      await setTimeout(20);
    }
    writeFileSync(file('installed'), '');
    note('installed', { name });
  },
}));
