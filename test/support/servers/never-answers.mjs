#!/usr/bin/env node
// Reads everything and answers nothing, not even the handshake.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';

await serve({
  name: 'never-answers',
  intercept(message) {
    note('unanswered', { method: message.method, id: message.id });
    return true;
  },
});
