import { expect, test } from 'vitest';

import { GatewayError, RpcError } from '../core/errors.ts';
import { parseReplicaError, serializeReplicaError } from './replica-error.ts';

const transfer = (error: unknown): unknown =>
  parseReplicaError(JSON.parse(JSON.stringify(serializeReplicaError(error))));

test('replica error: transfers gateway and upstream errors between replicas unchanged', () => {
  const gatewayError = new GatewayError('UPSTREAM_BUSY', 'Too much.', { details: { retryAfterMs: 5 } });
  expect(transfer(gatewayError)).toEqual(gatewayError);
  const rpcError = new RpcError({ code: -32002, message: 'none', data: { uri: 'x' } });
  expect(transfer(rpcError)).toMatchObject({ body: rpcError.body });
});

test('replica error: transfers any other error as INVARIANT without its message', () => {
  expect(transfer(new Error('token=abc'))).toMatchObject({ code: 'INVARIANT' });
  expect(String(transfer(new Error('token=abc')))).not.toContain('abc');
});

test.each([undefined, 'x', {}, { code: 'toString', message: 'x' }, { rpc: { code: 'x', message: 'y' } }])(
  'replica error: reads %j as an INVARIANT error',
  (value) => {
    expect(parseReplicaError(value)).toMatchObject({ code: 'INVARIANT' });
  },
);
