import { describe, expect, test } from 'vitest';

import { policyCall } from '../../test/support/policy-call.ts';
import { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { OwnGuard } from '../model/own-guard.ts';
import type { Call, Next } from './call.ts';
import { ownGuard } from './own-guard.ts';

const call = policyCall({
  operation: {
    kind: 'tool',
    upstream: 'notes' as UpstreamName,
    method: 'tools/call',
    params: { name: 'add', arguments: { text: 'x' }, _meta: { a: 1 } },
  },
});
const answer = Payload.ofText('{"content":[],"id":9223372036854775807}');

function run(guard: OwnGuard, next: Next = () => Promise.resolve(answer)): Promise<Payload> {
  return ownGuard('./own.mjs', guard, { timeoutMs: 50 })(call, next);
}

describe('an own guard', () => {
  test('sees the call, and what it passes on is the same to the byte', async () => {
    let seen: unknown;
    const payload = await run((guarded, next) => {
      seen = { ...guarded };
      return next();
    });
    expect(payload).toBe(answer);
    expect(seen).toMatchObject({
      server: 'notes',
      tool: 'add',
      arguments: { text: 'x' },
      isCancelled: false,
    });
  });

  test('can change arguments and results', async () => {
    const sent: Call[] = [];
    const payload = await run(
      async (guarded, next) => ({ ...(await next({ ...guarded.arguments, more: true })), also: 1 }),
      (passed) => {
        sent.push(passed);
        return Promise.resolve(answer);
      },
    );
    expect(sent[0]?.operation.params).toEqual({
      name: 'add',
      arguments: { text: 'x', more: true },
      _meta: { a: 1 },
    });
    expect(payload.text).toBe('{"content":[],"id":9223372036854775807,"also":1}');
  });

  test.each<[string, OwnGuard, string]>([
    [
      'throws',
      () => {
        throw new Error('Not today.');
      },
      'Not today.',
    ],
    ['never ends', () => new Promise(() => undefined), 'took longer'],
    ['gives nothing', () => undefined as never, 'gave no result'],
  ])('that %s fails the call and nothing else', async (_, guard, why) => {
    const error: unknown = await run(guard).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'GUARD_FAILED' });
    expect(String(error)).toContain(why);
    expect(String(error)).toContain('./own.mjs');
  });

  test('is not blamed for what the call itself says, nor for how long it takes', async () => {
    const failure = new GatewayError('UPSTREAM_CLOSED', 'gone');
    await expect(
      run(
        (_, next) => next(),
        () => Promise.reject(failure),
      ),
    ).rejects.toBe(failure);
    const slow: Next = () => new Promise((resolve) => setTimeout(() => resolve(answer), 120));
    expect(await run((_, next) => next(), slow)).toBe(answer);
  });
});
