import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { stringifyExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { OwnGuard } from '../../core/own-guard.ts';
import type { Call, Next } from '../guard.ts';
import { createCustomGuard } from './custom-guard.ts';

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
  return createCustomGuard('./own.mjs', guard, { timeoutMs: 50 })(call, next);
}

describe('custom guard', () => {
  test('custom guard: sees the call and passes the result through byte for byte', async () => {
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

  test('custom guard: can change arguments and results', async () => {
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

  test('custom guard: can change a result in place', async () => {
    const original = Payload.ofText('{"content":[{"type":"text","text":"secret"}],"id":9223372036854775807}');
    const payload = await run(
      async (_, next) => {
        const result = (await next()) as { content: { text: string }[] };
        for (const item of result.content) item.text = 'hidden';
        return result;
      },
      () => Promise.resolve(original),
    );
    const changed = '{"content":[{"type":"text","text":"hidden"}],"id":9223372036854775807}';
    expect([payload.text, stringifyExact(payload.value)]).toEqual([changed, changed]);
    expect(payload.outline).toMatchObject({ content: [{ text: 'hidden' }] });
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
    ['returns nothing', () => undefined as never, 'returned no result object'],
  ])('custom guard: fails only the call when it %s', async (_, guard, why) => {
    const error: unknown = await run(guard).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'GUARD_FAILED' });
    expect(String(error)).toContain(why);
    expect(String(error)).toContain('./own.mjs');
  });

  test('custom guard: is not blamed for errors or the duration of the call itself', async () => {
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
