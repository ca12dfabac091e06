#!/usr/bin/env node
// Works, but ignores the end of its standard input and SIGTERM.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({ name: 'ignores-signals', ...plainOffer(), ignoresEnd: true });
