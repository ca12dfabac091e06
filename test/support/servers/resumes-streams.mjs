#!/usr/bin/env node
// Over HTTP: closes the connection of every call after the first event; the answer is sent to a GET with Last-Event-ID.
// With `--abruptly` the connection breaks instead.
import { serve } from './engine/engine.mjs';
import { plainOffer } from './engine/offer.mjs';

await serve((options) => ({
  name: 'resumes-streams',
  ...plainOffer(),
  cutsStreams: options.has('abruptly') ? 'abrupt' : 'polite',
}));
