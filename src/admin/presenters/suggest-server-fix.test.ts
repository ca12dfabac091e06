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
    problem: { code: 'UPSTREAM_REFUSED', message: 'was not found' },
    fix: /^Install .*: trunkline edit memory$/,
  },
  {
    problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'exited with code 1', isProgramMissing: true },
    fix: /^Install .*"command" and "args" of mcpServers\.memory: trunkline edit memory$/,
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

test('server fix: does not suggest installing a program for an HTTP server', () => {
  const transport = { kind: 'http', url: 'https://example.com/mcp', flavour: 'auto', headers: {} } as const;
  const problem = { code: 'UPSTREAM_REFUSED', message: 'HTTP 404' } as const;
  expect(suggestServerFix({ ...server, transport, problem })).toBe(
    'Correct mcpServers.memory in the configuration: trunkline edit memory',
  );
});
