#!/usr/bin/env node
// Works, but neither the end of its standard input nor a polite signal ends it.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({ name: 'ignores-signals', ...plainOffer(), ignoresEnd: true });
