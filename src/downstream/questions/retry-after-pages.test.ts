import { describe, expect, test } from 'vitest';

import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { retryAfterPages } from './retry-after-pages.ts';

const page = { mode: 'url', url: 'https://example.com/', message: 'Look.', elicitationId: 'p' };
const wants = (data: unknown): RpcError => new RpcError({ code: -32042, message: 'First.', data });

function client(action: string): { requestingClient: RequestingClient; asked: unknown[] } {
  const asked: unknown[] = [];
  const requestingClient: RequestingClient = {
    session: 's',
    capabilities: {},
    logLevel: undefined,
    deadline: undefined,
    async ask(method: string, params: JsonObject | undefined) {
      asked.push([method, params]);
      return { action };
    },
    log: () => {},
  };
  return { requestingClient, asked };
}

/** Creates a server that fails with the given errors, one per call. */
function server(errors: readonly Error[]) {
  let calls = 0;
  const call = async (): Promise<Payload> => {
    const error = errors[calls++];
    if (error !== undefined) throw error;
    return Payload.of({ calls });
  };
  return { call, calls: () => calls };
}

describe('URL elicitation', () => {
  test('URL elicitation: repeats the call after the pages were visited', async () => {
    const { requestingClient, asked } = client('accept');
    const { call } = server([wants({ elicitations: [page, page] }), wants({ elicitations: [page] })]);
    const result = await retryAfterPages(call, { requestingClient, cancellation: new Cancellation() });
    expect(result.value).toEqual({ calls: 3 });
    expect(asked).toEqual(Array.from({ length: 3 }, () => ['elicitation/create', page]));
  });

  test.each(['decline', 'cancel'])('URL elicitation: does not repeat the call after "%s"', async (action) => {
    const { requestingClient } = client(action);
    const { call, calls } = server([wants({ elicitations: [page] })]);
    const outcome = retryAfterPages(call, { requestingClient, cancellation: new Cancellation() });
    await expect(outcome).rejects.toMatchObject({ code: 'QUESTION_DECLINED' });
    expect(calls()).toBe(1);
  });

  test('URL elicitation: limits the number of rounds and pages', async () => {
    const { requestingClient, asked } = client('accept');
    const many = { elicitations: Array.from({ length: 1000 }, () => page) };
    const { call, calls } = server(Array.from({ length: 100 }, () => wants(many)));
    const outcome = retryAfterPages(call, { requestingClient, cancellation: new Cancellation() });
    await expect(outcome).rejects.toMatchObject({ code: 'QUESTION_DECLINED' });
    expect([calls(), asked.length]).toEqual([11, 200]);
  });

  test.each([undefined, {}, { elicitations: 'x' }, { elicitations: [] }, { elicitations: [7] }])(
    'URL elicitation: passes on the error when it names no page: %j',
    async (data) => {
      const { requestingClient } = client('accept');
      const error = wants(data);
      const outcome = retryAfterPages(server([error]).call, {
        requestingClient,
        cancellation: new Cancellation(),
      });
      await expect(outcome).rejects.toBe(error);
    },
  );

  test('URL elicitation: ends when the client cancels', async () => {
    const cancellation = new Cancellation();
    const { requestingClient } = client('accept');
    const { call, calls } = server([wants({ elicitations: [page] })]);
    const outcome = retryAfterPages(call, { requestingClient, cancellation });
    cancellation.cancel(new Error('gone'));
    await expect(outcome).rejects.toThrow('gone');
    expect(calls()).toBe(1);
  });
});
