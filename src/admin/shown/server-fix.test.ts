import { expect, test } from 'vitest';

import type { ErrorCode } from '../../model/errors.ts';
import type { AdminServer } from '../contract/contract.ts';
import { serverFix } from './server-fix.ts';

const server: AdminServer = {
  ...{ name: 'memory', enabled: true, state: 'failed', tools: 0, prompts: 0, resources: 0, inFlight: 0 },
  transport: { kind: 'stdio', command: 'node', args: ['gone.mjs'], env: {} },
};

test.each<{ code: ErrorCode; message: string; fix: string | RegExp }>([
  { code: 'QUARANTINED', message: 'held', fix: 'trunkline approvals' },
  { code: 'UPSTREAM_NEEDS_AUTH', message: 'HTTP 401', fix: 'trunkline login memory' },
  { code: 'UPSTREAM_REFUSED', message: 'was not found', fix: /^Install .*: trunkline edit memory$/ },
  {
    code: 'UPSTREAM_UNAVAILABLE',
    message: "exited with code 1. Its last words: Error: Cannot find module '/gone.mjs'",
    fix: /^Install .*"command" and "args" of mcpServers\.memory: trunkline edit memory$/,
  },
  { code: 'UPSTREAM_UNAVAILABLE', message: 'was not ready within 30 s', fix: 'trunkline restart memory' },
])('$code: $message is mended by what helps', ({ code, message, fix }) => {
  expect(serverFix({ ...server, problem: { code, message } })).toMatch(fix);
});

test('the address of a server on the network is no program to install', () => {
  const transport = { kind: 'http', url: 'https://example.com/mcp', flavour: 'auto', headers: {} } as const;
  const problem = { code: 'UPSTREAM_REFUSED', message: 'HTTP 404' } as const;
  expect(serverFix({ ...server, transport, problem })).toBe(
    'Mend mcpServers.memory in the configuration: trunkline edit memory',
  );
});
