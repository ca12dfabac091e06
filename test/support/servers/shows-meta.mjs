#!/usr/bin/env node
// Every tool answers with the `_meta` that came with the call, and wants to be loaded always.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

const offer = plainOffer();
const call = (_args, { meta }) => ({ content: [{ type: 'text', text: JSON.stringify(meta) }] });

const _meta = { 'anthropic/alwaysLoad': true, 'example.com/kept': 1 };

await serve({ name: 'shows-meta', ...offer, tools: offer.tools.map((tool) => ({ ...tool, _meta, call })) });
