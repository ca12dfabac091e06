#!/usr/bin/env node
// Names at and beyond every limit of clients, many of which differ only in the last character, and some with unusual characters.
import { serve } from './engine/engine.mjs';
import { object, text } from './engine/schema.mjs';

const lengths = [1, 47, 48, 63, 64, 65, 100, 128, 129, 300];
const twins = ['one', 'two', 'three'].map((end) => `${'a-very-long-name-'.repeat(6)}${end}`);
const odd = [
  'with.dots',
  'with/slashes',
  'with spaces',
  'ünïcödé',
  'with__two__underscores',
  '__leading',
  'UPPER',
];

await serve({
  name: 'long-names',
  tools: [...lengths.map((length) => 'n'.repeat(length)), ...twins, ...odd].map((name) => ({
    name,
    description: `A name of ${name.length} characters.`,
    inputSchema: object(),
    call: () => text(name),
  })),
});
