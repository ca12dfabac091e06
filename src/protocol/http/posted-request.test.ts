import { describe, expect, test } from 'vitest';

import { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import { flattenMessage } from '../rpc-message.ts';
import { PostedRequest } from './posted-request.ts';

const reason = new GatewayError('CALL_CANCELLED', 'Enough.');

function posted() {
  const sent: string[] = [];
  const settled: unknown[] = [];
  const request = new PostedRequest(
    { kind: 'request', id: 7, method: 'tools/call', params: undefined },
    {
      canNotify: true,
      sendMessage: (text) => sent.push(text),
      respond: (message) => sent.push(flattenMessage(message)),
      endCancelled: (id) => sent.push(`cancelled ${String(id)}`),
    },
    {
      statusFor: () => 200,
      onSettled: (_request, result) => settled.push(result?.value),
      onError: (error) => sent.push(String(error)),
    },
  );
  return { request, sent, settled };
}

type Action = (request: PostedRequest) => void;
const FIRST_ACTIONS: Readonly<Record<string, Action>> = {
  result: (request) => request.sendResult(Payload.of({ ok: true })),
  error: (request) => request.sendError({ code: 1, message: 'no' }),
  'client cancellation': (request) => request.cancelByClient(reason),
  abandon: (request) => request.abandon(reason),
  end: (request) => request.end(reason),
};
const LATER_ACTIONS: Readonly<Record<string, Action>> = {
  ...FIRST_ACTIONS,
  notify: (request) => request.notify('notifications/progress', {}),
  request: (request) => request.sendRequest(1, 'roots/list', undefined),
};
const pairs = Object.keys(FIRST_ACTIONS).flatMap((first) =>
  Object.keys(LATER_ACTIONS).map((second) => [first, second]),
);

describe('posted request', () => {
  test.each(pairs)(
    'posted request: is settled by "%s" and ignores a later "%s"',
    (first = '', second = '') => {
      const { request, sent, settled } = posted();
      FIRST_ACTIONS[first]?.(request);
      const before = [...sent];
      expect(settled).toHaveLength(1);
      LATER_ACTIONS[second]?.(request);
      expect(sent).toEqual(before);
      expect(settled).toHaveLength(1);
    },
  );

  test('posted request: can still fail with an error when its result cannot be written', () => {
    const { request, sent } = posted();
    const broken = {
      get text(): never {
        throw new Error('broken');
      },
    } as unknown as Payload;
    expect(() => request.sendResult(broken)).toThrow('broken');
    request.sendError({ code: 1, message: 'no' });
    expect(sent).toEqual(['{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}']);
  });
});
