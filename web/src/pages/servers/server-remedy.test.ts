import { describe, expect, test } from 'vitest';

import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { findRemedy } from './server-remedy.ts';

const base = { name: 'a', enabled: true, tools: 0, prompts: 0, resources: 0, inFlight: 0 };
const server = (state: string, code?: string): AdminServer =>
  ({ ...base, state, ...(code !== undefined && { problem: { code, message: 'no' } }) }) as AdminServer;

describe('server remedies', () => {
  test.each([
    [server('ready'), undefined],
    [server('idle'), undefined],
    [server('connecting'), undefined],
    [server('needs-auth', 'UPSTREAM_NEEDS_AUTH'), 'sign-in'],
    [server('waiting', 'UPSTREAM_UNAVAILABLE'), 'try'],
    [server('failed', 'UPSTREAM_REFUSED'), 'edit'],
    [server('held', 'QUARANTINED'), 'approve'],
    [server('disabled'), 'enable'],
  ])('remedy: for state $state is $1', (example, remedy) => {
    expect(findRemedy(example)).toBe(remedy);
  });

  test('remedy: offers a review once the server is usable', () => {
    expect(findRemedy(server('ready'), 8)).toBe('approve');
    expect(findRemedy(server('needs-auth', 'UPSTREAM_NEEDS_AUTH'), 8)).toBe('sign-in');
  });
});
