#!/usr/bin/env node
// Results of every kind that are too large for a model: lines, records, a single line, images with text, structured results, and errors.
import { image } from './engine/content.mjs';
import { serve } from './engine/engine.mjs';
import { integer, object, text } from './engine/schema.mjs';

const lines = (count) => Array.from({ length: count }, (_, at) => `line ${at} says "€ 🚀"\r\n`).join('');
const records = (count) =>
  Array.from({ length: count }, (_, id) => ({ id, title: `Issue ${id}`, body: 'It broke. '.repeat(9) }));
const answering = (name, call, more = {}) => ({
  name,
  inputSchema: object({ count: integer }),
  annotations: { readOnlyHint: true },
  call,
  ...more,
});

await serve({
  name: 'big-results',
  tools: [
    answering('lines', ({ count }) => text(lines(count))),
    answering('one-line', ({ count }) => text('0123456789€'.repeat(count))),
    answering('records', ({ count }) => text(JSON.stringify({ total: count, items: records(count) }))),
    answering(
      'structured',
      ({ count }) => ({
        ...text(JSON.stringify({ items: records(count) })),
        structuredContent: { items: records(count) },
      }),
      { outputSchema: object({ items: { type: 'array' } }) },
    ),
    answering('failure', ({ count }) => ({
      ...text(lines(count)),
      isError: true,
      _meta: { 'example.com/a': 1 },
    })),
    answering('mixed', ({ count }) => ({
      content: [
        { type: 'text', text: lines(count) },
        { type: 'image', data: image, mimeType: 'image/gif' },
        { type: 'resource', resource: { uri: 'fixture://log', mimeType: 'text/plain', text: lines(count) } },
        ...Array.from({ length: 10 }, (_, at) => ({
          type: 'image',
          data: Buffer.alloc(30_000, at).toString('base64'),
          mimeType: 'image/png',
        })),
      ],
    })),
  ],
});
