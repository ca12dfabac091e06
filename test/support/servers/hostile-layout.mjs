#!/usr/bin/env node
// Every text is valid, but meant to break a page: words of a hundred thousand characters, ten thousand lines, stacks of combining marks,
// characters without a shape, and unpaired surrogates. Each contains markup, too.
import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';

const LONG = 100_000;
const marks = '\u0300\u0301\u0489\u20DD\u0E47'.repeat(60);
const stack = `Z${marks}a${marks}l${marks}g${marks}o${marks}`;
const markup = `<img src=x onerror="globalThis.ran='layout'"><style>*{display:none}</style>`;
const odd = `${stack}\u0000\uD800\uFFFE\u202Eback\u2066\u00AD${markup}`;
const word = (letter) => `${letter.repeat(LONG)}${markup}`;
const lines = `${markup}\n`.repeat(10_000);
const many = (count, of) => Object.fromEntries(Array.from({ length: count }, (_, at) => of(at)));
const url = `javascript:globalThis.ran='url'//${'u'.repeat(2000)}`;
const icons = [{ src: 'http://127.0.0.1:9/icon.svg', mimeType: 'image/svg+xml' }, { src: url }];

process.stderr.write(`${stack}\n${word('e')}\n${'line\n'.repeat(10_000)}${odd}\n`);

await serve({
  name: odd,
  title: odd,
  websiteUrl: url,
  icons,
  instructions: `${odd} ${word('i')}\n${lines}`,
  tools: [
    {
      name: 'odd',
      title: odd,
      description: odd,
      icons,
      annotations: { title: odd },
      inputSchema: object({
        [odd]: {
          ...string,
          title: odd,
          description: odd,
          default: odd,
          enum: [odd, word('n').slice(0, 5000)],
        },
        ['k'.repeat(5000)]: { ...string, title: 't'.repeat(5000), default: 'd'.repeat(5000) },
      }),
      outputSchema: object({ [odd]: { ...string, description: word('o') } }),
      call: () => text(odd),
    },
    { name: 'word', description: word('x'), inputSchema: object({ a: string }), call: () => text(word('y')) },
    { name: 'lines', description: lines, inputSchema: object(), call: () => text(lines) },
    {
      name: 'stack',
      description: stack.repeat(50),
      inputSchema: object(),
      call: () => text(stack.repeat(300)),
    },
    {
      name: 'wide',
      description: 'Has many parameters.',
      inputSchema: object(many(1000, (at) => [`p${at}`, { ...string, description: markup }])),
      call: () => text(JSON.stringify(many(20_000, (at) => [`m${at}`, { [markup]: at }]))),
    },
    {
      name: 'fails',
      inputSchema: object(),
      call: () => ({ isError: true, ...text(`${odd}${word('f')}\n${lines}`) }),
    },
    {
      name: 'links',
      inputSchema: object(),
      call: () => ({
        content: [
          { type: 'resource_link', uri: url, name: odd, title: odd, description: word('r') },
          { type: 'resource_link', uri: `data:text/html,${markup}`, name: odd },
          { type: 'resource', resource: { uri: url, text: lines } },
        ],
        structuredContent: { [odd]: [odd, { [word('s').slice(0, 5000)]: lines }] },
      }),
    },
  ],
  prompts: [
    {
      name: 'odd',
      title: odd,
      description: odd,
      arguments: [{ name: odd, description: word('p') }],
      get: () => ({ messages: [] }),
    },
  ],
  resources: [
    { uri: url, name: odd, title: odd, description: word('q'), read: () => ({ contents: [] }) },
    { uri: `data:text/html,${markup}`, name: word('w').slice(0, 5000), read: () => ({ contents: [] }) },
  ],
});
