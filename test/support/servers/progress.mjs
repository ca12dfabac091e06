#!/usr/bin/env node
// Writes all progress reports and the answer at once, which makes careless clients lose reports.
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
