import { expect, test } from 'vitest';

import type { AdminServer } from '../contract/contract.ts';
import { suggestServerFix } from './suggest-server-fix.ts';

const server: AdminServer = {
  name: 'memory',
  enabled: true,
  state: 'failed',
  tools: 0,
  prompts: 0,
  resources: 0,
  inFlight: 0,
  transport: { kind: 'stdio', command: 'node', args: ['gone.mjs'], env: {} },
};

test.each<{ problem: NonNullable<AdminServer['problem']>; fix: string | RegExp }>([
  { problem: { code: 'QUARANTINED', message: 'held' }, fix: 'trunkline approvals' },
  { problem: { code: 'UPSTREAM_NEEDS_AUTH', message: 'HTTP 401' }, fix: 'trunkline login memory' },
  {
    problem: { code: 'UPSTREAM_REFUSED', message: 'A does not exist. Do B.', fix: 'Do B.' },
    fix: 'Do B.',
  },
  {
    problem: { code: 'UPSTREAM_REFUSED', message: 'was refused' },
    fix: 'Correct mcpServers.memory in the configuration: trunkline edit memory',
  },
  {
    problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'Cannot find module: not read from the message' },
    fix: 'trunkline restart memory',
  },
  {
    problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'was not ready within 30 s' },
    fix: 'trunkline restart memory',
  },
])('server fix: suggests a command for $problem.code ($problem.message)', ({ problem, fix }) => {
  expect(suggestServerFix({ ...server, problem })).toMatch(fix);
});
