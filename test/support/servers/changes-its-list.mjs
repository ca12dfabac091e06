#!/usr/bin/env node
// Adds a tool every `--every` milliseconds (200 unless said), `--times` times (3 unless said), beginning at the handshake;
// `--quietly` leaves the announcement out, `--only-tools` everything that is no tool.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';
import { addedTool } from './engine/tools.mjs';

await serve((options) => ({
  name: 'changes-its-list',
  ...plainOffer(),
  ...(options.has('only-tools') && { prompts: undefined, resources: undefined, templates: undefined }),
  onServing(server) {
    let left = options.number('times', 3);
    const timer = setInterval(
      () => {
        if (server.links.size === 0) return;
        server.tools.push(addedTool(server.tools.length));
        if (!options.has('quietly')) server.changed('tools');
        left -= 1;
        if (left <= 0) clearInterval(timer);
      },
      options.number('every', 200),
    );
  },
}));
