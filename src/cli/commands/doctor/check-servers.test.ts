import { expect, test } from 'vitest';

import type { AdminServer } from '../../../admin/contract/contract.ts';
import { checkServers } from './check-servers.ts';

const server: AdminServer = {
  name: 'a',
  state: 'ready',
  enabled: true,
  tools: 0,
  prompts: 0,
  resources: 0,
  inFlight: 0,
  listedAt: 1,
};

test.each([
  [0, 'ready, 0 tools'],
  [1, 'ready, 1 tool'],
  [2, 'ready, 2 tools'],
])('doctor: counts %i tools in singular or plural', (tools, message) => {
  expect(checkServers([{ ...server, tools }])).toEqual([
    { check: 'server', subject: 'a', status: 'ok', message },
  ]);
});
