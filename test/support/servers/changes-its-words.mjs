#!/usr/bin/env node
// One prompt and the instructions change with each call of `change`; `--revision-file` keeps the revision across restarts.
// It also has a tool, a prompt and a page that are not listed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';
import { object, text } from './engine/schema.mjs';

await serve((options) => {
  const file = options.text('revision-file');
  let revision = file !== undefined && existsSync(file) ? Number(readFileSync(file, 'utf8')) : 1;
  const words = () => (revision === 1 ? 'Worded as approved.' : `Worded anew (revision ${revision}).`);
  const prompt = (name) => ({
    name,
    description: words(),
    arguments: [{ name: 'who' }],
    complete: () => ['Ada'],
    get: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Prompted.' } }] }),
  });
  const worded = prompt('worded');
  const tool = (name, call) => ({ name, description: `Is ${name}.`, inputSchema: object(), call });
  const change = tool('change', (_args, { server }) => {
    revision += 1;
    worded.description = words();
    if (file !== undefined) writeFileSync(file, String(revision));
    server.changed('prompts');
    return text(String(revision));
  });
  const { resources, templates } = plainOffer();
  const websiteUrl = `https://example.com/?${encodeURIComponent(words())}`;
  // Optional, because most servers describe themselves only by instructions.
  const info = { description: words(), websiteUrl, icons: [{ src: websiteUrl }], note: words() };
  return {
    name: 'changes-its-words',
    instructions: words(),
    ...(options.has('info') && { info }),
    resources,
    templates,
    tools: [change, tool('unlisted', () => text('Called.'))],
    prompts: [worded, prompt('unlisted')],
    page: (member, all, cursor) => ({
      [member]: all.filter(({ name }) => (name === 'unlisted') === (cursor === 'more')),
    }),
  };
});
