import { describe, expect, test } from 'vitest';

import { Cancellation } from '../lib/cancellation.ts';
import { Payload } from '../lib/payload.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { RpcError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { pagesFirst } from './pages-first.ts';

const page = { mode: 'url', url: 'https://example.com/', message: 'Look.', elicitationId: 'p' };
const wants = (data: unknown): RpcError => new RpcError({ code: -32042, message: 'First.', data });

function client(action: string): { behind: ClientBehind; asked: unknown[] } {
  const asked: unknown[] = [];
  const behind: ClientBehind = {
    session: 's',
    capabilities: {},
    logLevel: undefined,
    limit: undefined,
    async ask(method: string, params: JsonObject | undefined) {
      asked.push([method, params]);
      return { action };
    },
    log: () => {},
  };
  return { behind, asked };
}

/** A server that fails as often as said. */
function server(errors: readonly Error[]) {
  let calls = 0;
  const call = async (): Promise<Payload> => {
    const error = errors[calls++];
    if (error !== undefined) throw error;
    return Payload.of({ calls });
  };
  return { call, calls: () => calls };
}

describe('a call that wants pages visited first', () => {
  test('is made again once they were', async () => {
    const { behind, asked } = client('accept');
    const { call } = server([wants({ elicitations: [page, page] }), wants({ elicitations: [page] })]);
    const result = await pagesFirst(call, { behind, cancellation: new Cancellation() });
    expect(result.value).toEqual({ calls: 3 });
    expect(asked).toEqual(Array.from({ length: 3 }, () => ['elicitation/create', page]));
  });

  test.each(['decline', 'cancel'])('is not made again after "%s"', async (action) => {
    const { behind } = client(action);
    const { call, calls } = server([wants({ elicitations: [page] })]);
    const outcome = pagesFirst(call, { behind, cancellation: new Cancellation() });
    await expect(outcome).rejects.toMatchObject({ code: 'QUESTION_DECLINED' });
    expect(calls()).toBe(1);
  });

  test('asks neither for ever nor for too many pages', async () => {
    const { behind, asked } = client('accept');
    const many = { elicitations: Array.from({ length: 1000 }, () => page) };
    const { call, calls } = server(Array.from({ length: 100 }, () => wants(many)));
    const outcome = pagesFirst(call, { behind, cancellation: new Cancellation() });
    await expect(outcome).rejects.toMatchObject({ code: 'QUESTION_DECLINED' });
    expect([calls(), asked.length]).toEqual([11, 200]);
  });

  test.each([undefined, {}, { elicitations: 'x' }, { elicitations: [] }, { elicitations: [7] }])(
    'fails as it did when no page is named: %j',
    async (data) => {
      const { behind } = client('accept');
      const error = wants(data);
      const outcome = pagesFirst(server([error]).call, { behind, cancellation: new Cancellation() });
      await expect(outcome).rejects.toBe(error);
    },
  );

  test('is given up with its client', async () => {
    const cancellation = new Cancellation();
    const { behind } = client('accept');
    const { call, calls } = server([wants({ elicitations: [page] })]);
    const outcome = pagesFirst(call, { behind, cancellation });
    cancellation.cancel(new Error('gone'));
    await expect(outcome).rejects.toThrow('gone');
    expect(calls()).toBe(1);
  });
});
