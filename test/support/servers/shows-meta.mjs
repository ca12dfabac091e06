#!/usr/bin/env node
// Every tool answers with the `_meta` that came with the call.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

const offer = plainOffer();
const call = (_args, { meta }) => ({ content: [{ type: 'text', text: JSON.stringify(meta) }] });

await serve({ name: 'shows-meta', ...offer, tools: offer.tools.map((tool) => ({ ...tool, call })) });
