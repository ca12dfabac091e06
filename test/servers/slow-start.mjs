#!/usr/bin/env node
// Reads nothing for `--ms` milliseconds (2000 unless said), as a package manager does that fetches the server first.
import { setTimeout } from 'node:timers/promises';

import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => ({
  name: 'slow-start',
  ...plainOffer(),
  beforeServing: () => setTimeout(options.number('ms', 2000)),
}));
