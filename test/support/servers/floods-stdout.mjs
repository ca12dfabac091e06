#!/usr/bin/env node
// Writes `--lines` lines (200 unless said) that are no messages before every answer, the first of them `--bytes` long (1 MB unless said).
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve({
  name: 'floods-stdout',
  ...plainOffer(),
  writeLines(put, options) {
    const long = `${'debug '.repeat(Math.ceil(options.number('bytes', 1024 * 1024) / 6))}\n`;
    const short = 'INFO  [server] still here, nothing to see\n'.repeat(options.number('lines', 200) - 1);
    return (text) => {
      put(long);
      put(short);
      put(`${text}\n`);
    };
  },
});
