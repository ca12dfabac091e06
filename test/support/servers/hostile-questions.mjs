#!/usr/bin/env node
// Asks questions during calls whose texts, schemas and addresses are meant to break the form that shows them, and names its process
// like that, too.
import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';

const marks = '\u0300\u0301\u0489\u20DD\u0E47'.repeat(60);
const markup = `<img src=x onerror="globalThis.ran='question'"><style>*{display:none}</style>`;
const odd = `Z${marks}\uD800\uFFFE\u202Eback\u2066\u00AD${markup}`;
const word = `${'w'.repeat(100_000)}${markup}`;
const lines = `${markup}\n`.repeat(10_000);
const url = `javascript:globalThis.ran='url'//${'u'.repeat(2000)}`;

const questions = {
  odd: {
    message: odd,
    requestedSchema: object(
      {
        [odd]: { ...string, title: odd, description: odd, default: odd },
        choice: { ...string, enum: [odd, word.slice(0, 5000)], enumNames: [odd, word] },
        titled: { ...string, oneOf: [{ const: odd, title: markup }] },
        several: { type: 'array', title: odd, items: { ...string, enum: [odd, 'a'] } },
        address: { ...string, format: 'uri', default: url, description: url },
        number: { type: 'number', minimum: 1e308, maximum: -1e308, default: odd },
      },
      ['choice'],
    ),
  },
  word: {
    message: word,
    requestedSchema: object({ [word.slice(0, 5000)]: { ...string, description: word } }),
  },
  lines: { message: lines, requestedSchema: object({ a: { ...string, title: lines, description: lines } }) },
  wide: {
    message: 'Many fields',
    requestedSchema: object(
      Object.fromEntries(
        Array.from({ length: 1000 }, (_, at) => [`p${at}`, { ...string, description: markup }]),
      ),
    ),
  },
  // Names of members that every object has, references that cannot be decoded, and keywords of a wrong type.
  broken: {
    message: { toString: markup },
    requestedSchema: {
      type: 'object',
      properties: {
        constructor: string,
        toString: { $ref: '#/%' },
        ['__proto__']: { ...string, description: 5, title: [odd] },
        loop: { $ref: '#/properties/loop' },
        none: null,
        list: { type: 'array', items: { $ref: '#/%E0%A4%A' } },
        empty: { enum: [] },
      },
      required: ['constructor', 'toString'],
    },
  },
  link: { mode: 'url', message: odd, url, elicitationId: odd },
};

// Linux and macOS list processes by this name.
process.title = '<b>\u202Eevil\u0007</b>';

await serve({
  name: 'hostile-questions',
  tools: Object.entries(questions).map(([name, params]) => ({
    name,
    inputSchema: object(),
    async call(_args, call) {
      const answer = await call.ask({
        it: { method: 'elicitation/create', params: { mode: 'form', ...params } },
      });
      return text(JSON.stringify(answer));
    },
  })),
});
