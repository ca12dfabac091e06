#!/usr/bin/env node
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({ name: 'plain', ...plainOffer() });
