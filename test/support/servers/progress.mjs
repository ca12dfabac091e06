#!/usr/bin/env node
// Reports progress without being asked to pause: all reports and the answer in one write, where careless clients lose them.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({
  name: 'progress',
  ...plainOffer(),
  writeLines(put) {
    const lines = [];
    return (text) => {
      lines.push(text);
      if (lines.length === 1) setTimeout(() => put(`${lines.splice(0).join('\n')}\n`), 20);
    };
  },
});
