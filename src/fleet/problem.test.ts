import { expect, test } from 'vitest';

import { GatewayError, RpcError } from '../model/errors.ts';
import { errorOf, problemOf } from './problem.ts';

const passed = (error: unknown): unknown => errorOf(JSON.parse(JSON.stringify(problemOf(error))));

test('errors of ours and of servers arrive as they were', () => {
  const ours = new GatewayError('UPSTREAM_BUSY', 'Too much.', { details: { retryAfterMs: 5 } });
  expect(passed(ours)).toEqual(ours);
  const theirs = new RpcError({ code: -32002, message: 'none', data: { uri: 'x' } });
  expect(passed(theirs)).toMatchObject({ body: theirs.body });
});

test('of anything else only that it happened', () => {
  expect(passed(new Error('token=abc'))).toMatchObject({ code: 'INVARIANT' });
  expect(String(passed(new Error('token=abc')))).not.toContain('abc');
});

test.each([undefined, 'x', {}, { code: 'toString', message: 'x' }, { rpc: { code: 'x', message: 'y' } }])(
  '%j is an error all the same',
  (problem) => {
    expect(errorOf(problem)).toMatchObject({ code: 'INVARIANT' });
  },
);
