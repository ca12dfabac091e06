#!/usr/bin/env node
// Its texts change: each call of `change` rewords one prompt at once, and the instructions at the next start with `--revision-file`, which keeps
// the revision. A tool and a prompt are on a second page of their lists, which the first page does not announce.
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
  // Sent only with `--info`, because most servers describe themselves only by instructions.
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
