#!/usr/bin/env node
// Every page of tools has a next cursor; with `--same-cursor` always the same one.
import { serve } from './engine/engine.mjs';
import { object, text } from './engine/schema.mjs';

const tool = (n) => ({ name: `tool-${n}`, inputSchema: object() });

await serve({
  name: 'endless-pages',
  tools: [{ ...tool(0), call: () => text('tool-0') }],
  page(member, _all, cursor, options) {
    const n = cursor === undefined || cursor === 'again' ? 0 : Number(cursor);
    return { [member]: [tool(n)], nextCursor: options.has('same-cursor') ? 'again' : String(n + 1) };
  },
});
