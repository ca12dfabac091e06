#!/usr/bin/env node
// Everything works but calls, which are never answered; cancelling them changes nothing.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

const offer = plainOffer();
const tools = offer.tools.map((tool) => ({ ...tool, call: () => new Promise(() => {}) }));

await serve({ name: 'hangs-in-calls', ...offer, tools, ignoresCancellation: true });
