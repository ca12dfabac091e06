#!/usr/bin/env node
// Names that collide: with each other, by case, with other servers of this preset, and once a prefix and separator are added
// to them. `--mark` is part of the answers, to distinguish two of these servers.
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
