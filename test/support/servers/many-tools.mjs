#!/usr/bin/env node
// Offers `--count` tools (default 500), with descriptions of realistic length.
import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';

await serve((options) => ({
  name: 'many-tools',
  tools: Array.from({ length: options.number('count', 500) }, (_, index) => ({
    name: `tool-${index}`,
    description: `Tool number ${index} of many. ${'It does what a tool of its number does, no more. '.repeat(4)}`,
    inputSchema: object({ text: { ...string, description: 'What to say.' } }),
    call: (args) => text(`${index}: ${args.text}`),
  })),
}));
