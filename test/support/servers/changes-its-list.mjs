#!/usr/bin/env node
// Adds a tool every `--every` milliseconds (default 200), `--times` times (default 3), starting with the handshake.
// `--quietly` sends no notification; `--only-tools` offers nothing but tools.
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
