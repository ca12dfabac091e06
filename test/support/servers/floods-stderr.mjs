#!/usr/bin/env node
// Writes `--bytes` (default 8 MB) to standard error at its start and before each call, and continues only when everything is
// written: a client that does not read standard error blocks this server.
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

/** Avoids `process.stderr`, which buffers what the pipe does not accept and loses it when the process exits. */
function writeAll(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // The pipe is non-blocking if `process.stderr` was used before.
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
