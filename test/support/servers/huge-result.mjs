#!/usr/bin/env node
// Every call returns `--bytes` of text (default 16 MB) in `--blocks` blocks (default 1).
import { serve } from './engine/engine.mjs';
import { object } from './engine/schema.mjs';

await serve((options) => {
  const blocks = options.number('blocks', 1);
  const bytes = Math.floor(options.number('bytes', 16 * 1024 * 1024) / blocks);
  // Contains quotes and a three-byte character, which show wrong escaping and wrong cuts.
  const block = { type: 'text', text: 'She said "€".\n'.repeat(Math.ceil(bytes / 16)).slice(0, bytes) };
  const huge = { content: Array.from({ length: blocks }, () => block) };
  return { name: 'huge-result', tools: [{ name: 'huge', inputSchema: object(), call: () => huge }] };
});
