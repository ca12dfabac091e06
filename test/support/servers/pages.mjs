#!/usr/bin/env node
// Lists in pages of `--page-size` (default 10): `--count` tools (default 25), prompts, resources and templates.
import { serve } from './engine/engine.mjs';
import { object, text } from './engine/schema.mjs';

await serve((options) => {
  const numbers = Array.from({ length: options.number('count', 25) }, (_, index) => index);
  return {
    name: 'pages',
    pageSize: 10,
    tools: numbers.map((n) => ({ name: `tool-${n}`, inputSchema: object(), call: () => text(`tool-${n}`) })),
    prompts: numbers.map((n) => ({ name: `prompt-${n}`, get: () => ({ messages: [] }) })),
    resources: numbers.map((n) => ({
      uri: `fixture://page/${n}`,
      name: `resource-${n}`,
      read: () => ({ contents: [{ uri: `fixture://page/${n}`, text: String(n) }] }),
    })),
    templates: numbers.map((n) => ({
      uriTemplate: `fixture://t${n}/{id}`,
      name: `t-${n}`,
      read: () => undefined,
    })),
  };
});
