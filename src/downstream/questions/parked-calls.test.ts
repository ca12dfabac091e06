import { describe, expect, test } from 'vitest';

import { MemoryRequest } from '../../../test/support/memory-client.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { ParkedCalls } from './parked-calls.ts';

const ann = { caller: 'ann', endpoint: '/mcp', capabilities: { elicitation: {} } };
const answer = { action: 'accept', content: { name: 'Ada' } };

/** Parks a call whose server asks one question and returns the answer as its result. */
async function parked(ttlMs = 60_000) {
  const calls = new ParkedCalls({ ttlMs });
  const cancelled = deferred<Error>();
  const first = await calls.run(request(), ann, async (channel) => {
    const { cancellation } = channel;
    cancellation.onCancel((reason) => cancelled.resolve(reason));
    const question = { method: 'elicitation/create', params: { message: 'Name?' } };
    return Payload.of({ told: await channel.ask(question, { cancellation, onRequestEnd: () => {} }) });
  });
  return { calls, cancelled: cancelled.promise, asked: first.value as JsonObject };
}

function request(more: JsonObject = {}): MemoryRequest {
  return new MemoryRequest(1, 'tools/call', { name: 'a', arguments: { x: 1 }, ...more });
}

function retry(asked: JsonObject, more: JsonObject = {}): MemoryRequest {
  const [key = ''] = Object.keys(asked['inputRequests'] as JsonObject);
  return request({ requestState: asked['requestState'], inputResponses: { [key]: answer }, ...more });
}

const mustNotStart = (): Promise<Payload> => Promise.reject(new Error('It was called a second time.'));

describe('parked calls', () => {
  test('parked call: continues with the answers of the same caller without a second call', async () => {
    const { calls, asked } = await parked();
    expect(asked['resultType']).toBe('input_required');
    const result = await calls.run(retry(asked), ann, mustNotStart);
    expect(result.value).toEqual({ told: answer });
  });

  test.each([
    ['another caller', {}, { ...ann, caller: 'bob' }],
    ['other arguments', { arguments: { x: 2 } }, ann],
    ['another tool', { name: 'b' }, ann],
    ['an invented request state', { requestState: 'trunkline.guessed' }, ann],
  ])('parked call: rejects %s and keeps waiting for its own answer', async (_who, changes, by) => {
    const { calls, asked } = await parked();
    await expect(calls.run(retry(asked, changes), by, mustNotStart)).rejects.toMatchObject({
      body: { code: -32602 },
    });
    expect((await calls.run(retry(asked), ann, mustNotStart)).value).toEqual({ told: answer });
  });

  test('parked call: cannot be continued twice', async () => {
    const { calls, asked } = await parked();
    await calls.run(retry(asked), ann, mustNotStart);
    await expect(calls.run(retry(asked), ann, mustNotStart)).rejects.toMatchObject({
      body: { code: -32602 },
    });
  });

  test('parked call: asks again for a missing answer', async () => {
    const { calls, asked } = await parked();
    const again = await calls.run(retry(asked, { inputResponses: {} }), ann, mustNotStart);
    expect(again.value).toMatchObject({
      resultType: 'input_required',
      inputRequests: asked['inputRequests'],
    });
  });

  test('parked call: is cancelled upstream after a timeout and on shutdown', async () => {
    expect((await (await parked(1)).cancelled).message).toMatch(/in time/);
    const { calls, cancelled } = await parked();
    calls.close();
    expect((await cancelled).message).toMatch(/stopping/);
  });
});
