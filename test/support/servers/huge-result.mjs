#!/usr/bin/env node
// Every call answers with `--bytes` of text (16 MB unless said): one block, or with `--blocks` so many.
import { serve } from './engine/engine.mjs';
import { object } from './engine/schema.mjs';

await serve((options) => {
  const blocks = options.number('blocks', 1);
  const bytes = Math.floor(options.number('bytes', 16 * 1024 * 1024) / blocks);
  // Quotes and a three-byte character: what is escaped or cut in the wrong place shows.
  const block = { type: 'text', text: 'She said "€".\n'.repeat(Math.ceil(bytes / 16)).slice(0, bytes) };
  const huge = { content: Array.from({ length: blocks }, () => block) };
  return { name: 'huge-result', tools: [{ name: 'huge', inputSchema: object(), call: () => huge }] };
});
