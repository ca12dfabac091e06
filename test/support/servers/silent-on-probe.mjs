#!/usr/bin/env node
// Does not answer unknown methods.
import { serve } from './engine/engine.mjs';
import { methods } from './engine/methods.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({
  name: 'silent-on-probe',
  ...plainOffer(),
  intercept(message) {
    if (message.method === undefined || message.method.startsWith('notifications/')) return false;
    if (methods[message.method] !== undefined && methods[message.method].era !== 'modern') return false;
    note('unanswered', { method: message.method, id: message.id });
    return true;
  },
});
