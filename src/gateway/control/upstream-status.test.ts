import { expect, test } from 'vitest';

import type { ErrorCode } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { unavailableReason } from './upstream-status.ts';

test.each<[ErrorCode, string]>([
  ['QUARANTINED', 'is held for approval (review it with: trunkline approvals); its tools are not known'],
  ['UPSTREAM_NEEDS_AUTH', 'is not signed in (sign in with: trunkline login files); its tools are not known'],
  ['UPSTREAM_CLOSED', 'is down (restart it with: trunkline restart files); its tools are not known'],
])('unavailable server: %s names the state and the remedy', (code, expected) => {
  const name = 'files' as UpstreamName;
  const counts = { tools: 0, prompts: 0, resources: 0, inFlight: 0 };
  expect(unavailableReason({ name, state: 'failed', ...counts, problem: { code, message: 'x' } })).toBe(
    expected,
  );
});
