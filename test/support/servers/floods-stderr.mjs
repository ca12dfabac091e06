#!/usr/bin/env node
// Writes `--bytes` (8 MB unless said) to standard error at its start and before each call, and goes on only when all of it is
// written: a client that does not read it stops this server.
import { writeSync } from 'node:fs';

import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => {
  const line = `${new Date(0).toISOString()} WARN something went slightly wrong, as always\n`;
  const flood = line.repeat(Math.ceil(options.number('bytes', 8 * 1024 * 1024) / line.length));
  return {
    name: 'floods-stderr',
    ...plainOffer(),
    beforeServing: () => writeAll(flood),
    intercept(message) {
      if (message.method === 'tools/call') writeAll(`${flood}the last line before the call\n`);
      return false;
    },
  };
});

/** Not `process.stderr`, which keeps what the pipe does not take and loses it when the process ends. */
function writeAll(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // Whoever used `process.stderr` before has made the pipe one that does not wait.
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
