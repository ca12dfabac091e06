#!/usr/bin/env node
// Writes `--lines` lines (default 200) that are not messages before every answer; the first has `--bytes` (default 1 MB).
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
