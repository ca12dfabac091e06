#!/usr/bin/env node
// Exits with code 3 before it reads anything. With `--until FILE` it works once that file exists.
import { existsSync } from 'node:fs';

import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => ({
  name: 'dies-at-start',
  ...plainOffer(),
  beforeServing() {
    if (options.has('until') && existsSync(options.text('until'))) return;
    process.stderr.write('fixture: reading settings\nfixture: FIXTURE_KEY is not set, giving up\n');
    note('ended', { by: 'itself', code: 3 });
    process.exit(3);
  },
}));
