#!/usr/bin/env node
// Structured results of every kind: matching the schema, not matching, missing, and kinds that only modern clients support.
import { serve } from './engine/engine.mjs';
import { integer, object, string, text } from './engine/schema.mjs';

const person = object({ name: string, age: integer });
const answering = (name, outputSchema, result) => ({
  name,
  inputSchema: object(),
  outputSchema,
  call: () => result,
});

await serve({
  name: 'structured',
  tools: [
    answering('fits', person, {
      ...text('{"name":"Ada","age":36}'),
      structuredContent: { name: 'Ada', age: 36 },
    }),
    answering('has-more', person, {
      ...text('Ada'),
      structuredContent: { name: 'Ada', age: 36, born: 1815 },
    }),
    answering('does-not-fit', person, { ...text('Ada'), structuredContent: { name: 'Ada', age: 'unknown' } }),
    answering('is-missing', person, text('Ada')),
    answering('only-structured', person, { content: [], structuredContent: { name: 'Ada', age: 36 } }),
    answering(
      'is-an-array',
      { type: 'array', items: integer },
      { ...text('[1,2]'), structuredContent: [1, 2] },
    ),
    answering('is-null', { type: 'null' }, { ...text('null'), structuredContent: null }),
    answering(
      'has-references',
      { $defs: { person }, $ref: '#/$defs/person', type: 'object' },
      {
        ...text('Ada'),
        structuredContent: { name: 'Ada', age: 36 },
      },
    ),
  ],
});
