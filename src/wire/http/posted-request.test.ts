import { describe, expect, test } from 'vitest';

import { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import { textOf } from '../message.ts';
import { PostedRequest } from './posted-request.ts';

const reason = new GatewayError('CALL_CANCELLED', 'Enough.');

function posted() {
  const said: string[] = [];
  const settled: unknown[] = [];
  const request = new PostedRequest(
    { kind: 'request', id: 7, method: 'tools/call', params: undefined },
    {
      canNotify: true,
      notify: (text) => said.push(text),
      answer: (message) => said.push(textOf(message)),
      withdraw: (id) => said.push(`withdrawn ${String(id)}`),
    },
    {
      statusOf: () => 200,
      settled: (_request, result) => settled.push(result?.value),
      failed: (error) => said.push(String(error)),
    },
  );
  return { request, said, settled };
}

type Ending = (request: PostedRequest) => void;
const ENDINGS: Readonly<Record<string, Ending>> = {
  result: (request) => request.result(Payload.of({ ok: true })),
  error: (request) => request.error({ code: 1, message: 'no' }),
  withdraw: (request) => request.withdraw(reason),
  abandon: (request) => request.abandon(reason),
  end: (request) => request.end(reason),
};
const AFTERWARDS: Readonly<Record<string, Ending>> = {
  ...ENDINGS,
  notify: (request) => request.notify('notifications/progress', {}),
  ask: (request) => request.ask(1, 'roots/list', undefined),
};
const pairs = Object.keys(ENDINGS).flatMap((first) =>
  Object.keys(AFTERWARDS).map((second) => [first, second]),
);

describe('a request that came in a POST', () => {
  test.each(pairs)('is over with "%s", whatever comes after it: %s', (first = '', second = '') => {
    const { request, said, settled } = posted();
    ENDINGS[first]?.(request);
    const before = [...said];
    expect(settled).toHaveLength(1);
    AFTERWARDS[second]?.(request);
    expect(said).toEqual(before);
    expect(settled).toHaveLength(1);
  });

  test('that cannot be written as a result can still be an error', () => {
    const { request, said } = posted();
    const broken = {
      get text(): never {
        throw new Error('broken');
      },
    } as unknown as Payload;
    expect(() => request.result(broken)).toThrow('broken');
    request.error({ code: 1, message: 'no' });
    expect(said).toEqual(['{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}']);
  });
});
