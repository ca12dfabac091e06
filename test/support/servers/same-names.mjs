#!/usr/bin/env node
// Names that collide: with themselves, by case, with other servers of this preset, and once a prefix and separator are put
// before them. `--mark` tells two of these servers apart in their answers.
import { serve } from './engine/engine.mjs';
import { object, text } from './engine/schema.mjs';

const names = ['search', 'search', 'Search', 'se.arch', 'se_arch', 'se__arch', 'b__search', 'create_branch'];

await serve((options) => ({
  name: 'same-names',
  tools: names.map((name, index) => ({
    name,
    description: `Tool ${index} of ${options.text('mark', 'one')}.`,
    inputSchema: object(),
    call: () => text(`${options.text('mark', 'one')}: ${name}`),
  })),
  prompts: [{ name: 'search', get: () => ({ messages: [] }) }],
  resources: [
    {
      uri: 'fixture://shared',
      name: 'shared',
      read: () => ({ contents: [{ uri: 'fixture://shared', text: options.text('mark', 'one') }] }),
    },
  ],
}));
