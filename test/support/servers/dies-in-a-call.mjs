#!/usr/bin/env node
// Exits with code 9 in every call; with `--signal` by that signal, with `--half` after writing half of the answer.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => {
  const offer = plainOffer();
  const die = (_args, { id }) => {
    if (options.has('half'))
      process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"cont`);
    process.stderr.write('fixture: out of memory, so to speak\n');
    note('ended', { by: 'itself' });
    if (options.has('signal')) process.kill(process.pid, options.text('signal'));
    else process.exit(9);
    return new Promise(() => {});
  };
  return { name: 'dies-in-a-call', ...offer, tools: offer.tools.map((tool) => ({ ...tool, call: die })) };
});
