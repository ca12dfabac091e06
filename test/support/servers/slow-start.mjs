#!/usr/bin/env node
// Reads nothing for `--ms` milliseconds (default 2000), like a package manager that first downloads the server. With
// `--until FILE` it waits for that file instead.
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => ({
  name: 'slow-start',
  ...plainOffer(),
  async beforeServing() {
    if (!options.has('until')) return setTimeout(options.number('ms', 2000));
    while (!existsSync(options.text('until'))) await setTimeout(10);
    return undefined;
  },
}));
