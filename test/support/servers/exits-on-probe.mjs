#!/usr/bin/env node
// Exits if its first message is not `initialize`, as servers built on some SDKs do when they are probed for the modern protocol.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({
  name: 'exits-on-probe',
  ...plainOffer(),
  intercept(message, { link }) {
    if (message.method === 'initialize' || link.version !== undefined) return false;
    process.stderr.write(`Error: expect initialized request, got ${message.method}\n`);
    note('ended', { by: 'probe', method: message.method });
    process.exit(1);
  },
});
