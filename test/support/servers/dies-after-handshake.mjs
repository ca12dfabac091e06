#!/usr/bin/env node
// Exits when the handshake is complete, or `--ms` milliseconds later.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => ({
  name: 'dies-after-handshake',
  ...plainOffer(),
  onInitialized() {
    const die = () => {
      process.stderr.write('fixture: that was all\n');
      note('ended', { by: 'itself' });
      process.exit(4);
    };
    // Without a delay, requests that arrived together with the handshake are not answered.
    if (options.has('ms')) setTimeout(die, options.number('ms'));
    else die();
  },
}));
