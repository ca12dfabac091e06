#!/usr/bin/env node
// Writes `--bytes` (8 MB unless said) to standard error at its start and before each call. Node writes to pipes synchronously, so
// a client that does not read them stops this server.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => {
  const line = `${new Date(0).toISOString()} WARN something went slightly wrong, as always\n`;
  const flood = line.repeat(Math.ceil(options.number('bytes', 8 * 1024 * 1024) / line.length));
  return {
    name: 'floods-stderr',
    ...plainOffer(),
    beforeServing: () => void process.stderr.write(flood),
    intercept(message) {
      if (message.method === 'tools/call') process.stderr.write(`${flood}the last line before the call\n`);
      return false;
    },
  };
});
