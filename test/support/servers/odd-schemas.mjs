#!/usr/bin/env node
// Tools whose schemas are valid JSON Schema but rejected by some clients: alternatives at the root, references, formats.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { text } from './engine/schema.mjs';

const string = { type: 'string' };
const tool = (name, inputSchema) => ({
  name,
  description: `Takes ${name}.`,
  inputSchema,
  call(args) {
    note('took', { name, args });
    return text(JSON.stringify(args));
  },
});

await serve({
  name: 'odd-schemas',
  tools: [
    tool('alternatives', {
      type: 'object',
      properties: { id: string, name: string },
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    }),
    tool('references', {
      type: 'object',
      properties: { who: { $ref: '#/$defs/Person' } },
      $defs: { Person: { type: 'object', properties: { name: string } } },
    }),
    tool('formats', {
      type: 'object',
      properties: { url: { ...string, format: 'uri' }, at: { ...string, format: 'date-time' } },
    }),
  ],
});
