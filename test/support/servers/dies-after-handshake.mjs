#!/usr/bin/env node
// Ends as soon as the handshake is done, or `--ms` milliseconds later.
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
    // Without a delay nothing that came together with the handshake is answered any more.
    if (options.has('ms')) setTimeout(die, options.number('ms'));
    else die();
  },
}));
