import { expect, test } from 'vitest';

import { stateStyles } from './state-styles.ts';

test.each([
  'idle',
  'installing',
  'connecting',
  'ready',
  'waiting',
  'needs-auth',
  'held',
  'failed',
  'closed',
  'disabled',
])('server state: %s has a label', (state) => {
  expect(stateStyles[state]?.label).toMatch(/^[A-Z]/);
});
