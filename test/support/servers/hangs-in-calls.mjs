#!/usr/bin/env node
// Never answers calls, even after a cancellation; everything else works.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

const offer = plainOffer();
const tools = offer.tools.map((tool) => ({ ...tool, call: () => new Promise(() => {}) }));

await serve({ name: 'hangs-in-calls', ...offer, tools, ignoresCancellation: true });
