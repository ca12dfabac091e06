import { describe, expect, test } from 'vitest';

import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { mendingOf } from './mending.ts';

const base = { name: 'a', enabled: true, tools: 0, prompts: 0, resources: 0, inFlight: 0 };
const server = (state: string, code?: string): AdminServer =>
  ({ ...base, state, ...(code !== undefined && { problem: { code, message: 'no' } }) }) as AdminServer;

describe('what mends a server', () => {
  test.each([
    [server('ready'), undefined],
    [server('idle'), undefined],
    [server('connecting'), undefined],
    [server('needs-auth', 'UPSTREAM_NEEDS_AUTH'), 'sign-in'],
    [server('waiting', 'UPSTREAM_UNAVAILABLE'), 'try'],
    [server('failed', 'UPSTREAM_REFUSED'), 'edit'],
    [server('held', 'QUARANTINED'), 'approve'],
    [server('disabled'), 'enable'],
  ])('%j', (given, mending) => {
    expect(mendingOf(given)).toBe(mending);
  });

  test('what it offers is reviewed once it can be used', () => {
    expect(mendingOf(server('ready'), 8)).toBe('approve');
    expect(mendingOf(server('needs-auth', 'UPSTREAM_NEEDS_AUTH'), 8)).toBe('sign-in');
  });
});
