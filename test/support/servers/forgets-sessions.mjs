#!/usr/bin/env node
// Over HTTP: a session is unknown (404) after `--after` requests (default 3), as after a restart of the server.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => ({
  name: 'forgets-sessions',
  ...plainOffer(),
  forgetsSessionsAfter: options.number('after', 3),
}));
