#!/usr/bin/env node
// Writes its arguments and environment, including secrets, to standard error at its start, as careless servers do.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve(() => ({
  name: 'writes-its-environment',
  ...plainOffer(),
  beforeServing() {
    process.stderr.write(`started with ${JSON.stringify(process.argv.slice(2))}\n`);
    for (const [name, value] of Object.entries(process.env)) process.stderr.write(`${name}=${value}\n`);
    process.stderr.write('\u001b[31mready\u001b[0m\n');
  },
}));
