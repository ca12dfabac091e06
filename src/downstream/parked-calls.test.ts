import { describe, expect, test } from 'vitest';

import { MemoryRequest } from '../../test/support/memory-client.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import { Payload } from '../lib/payload.ts';
import type { JsonObject } from '../model/json.ts';
import { ParkedCalls } from './parked-calls.ts';

const ann = { caller: 'ann', place: '/mcp', capabilities: { elicitation: {} } };
const answer = { action: 'accept', content: { name: 'Ada' } };

/** A call whose server asks one question and answers with what it was told. */
async function parked(ttlMs = 60_000) {
  const calls = new ParkedCalls({ ttlMs });
  const cancelled = deferred<Error>();
  const first = await calls.run(request(), ann, async (cancellation: Cancellation, asker) => {
    cancellation.onCancel((reason) => cancelled.resolve(reason));
    const about = { capabilities: ann.capabilities, cancellation, left: () => {} };
    return Payload.of({ told: await asker.ask('elicitation/create', { message: 'Name?' }, about) });
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

describe('a parked call', () => {
  test('goes on with the answers of the same caller, and is not made again', async () => {
    const { calls, asked } = await parked();
    expect(asked['resultType']).toBe('input_required');
    const result = await calls.run(retry(asked), ann, mustNotStart);
    expect(result.value).toEqual({ told: answer });
  });

  test.each([
    ['another caller', {}, { ...ann, caller: 'bob' }],
    ['other arguments', { arguments: { x: 2 } }, ann],
    ['another tool', { name: 'b' }, ann],
    ['a state that was never given', { requestState: 'trunkline.guessed' }, ann],
  ])('is not continued by %s, and waits for its own', async (_who, changes, by) => {
    const { calls, asked } = await parked();
    await expect(calls.run(retry(asked, changes), by, mustNotStart)).rejects.toMatchObject({
      body: { code: -32602 },
    });
    expect((await calls.run(retry(asked), ann, mustNotStart)).value).toEqual({ told: answer });
  });

  test('cannot be continued twice', async () => {
    const { calls, asked } = await parked();
    await calls.run(retry(asked), ann, mustNotStart);
    await expect(calls.run(retry(asked), ann, mustNotStart)).rejects.toMatchObject({
      body: { code: -32602 },
    });
  });

  test('asks again for an answer that is missing', async () => {
    const { calls, asked } = await parked();
    const again = await calls.run(retry(asked, { inputResponses: {} }), ann, mustNotStart);
    expect(again.value).toMatchObject({
      resultType: 'input_required',
      inputRequests: asked['inputRequests'],
    });
  });

  test('is cancelled at its server when nobody answers, and when we stop', async () => {
    expect((await (await parked(1)).cancelled).message).toMatch(/in time/);
    const { calls, cancelled } = await parked();
    calls.close();
    expect((await cancelled).message).toMatch(/stopping/);
  });
});
