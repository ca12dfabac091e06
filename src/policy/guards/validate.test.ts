import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Payload } from '../../lib/payload.ts';
import type { ToolEntry } from '../../model/entry.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../model/ids.ts';
import type { Call } from '../call.ts';
import { validate } from './validate.ts';

const upstream = 'server' as UpstreamName;

function callOf(inputSchema: unknown, args: unknown, parts: Partial<Call> = {}): Call {
  const entry: ToolEntry = {
    kind: 'tool',
    upstream,
    fingerprint: JSON.stringify(inputSchema).slice(0, 100) as Fingerprint,
    name: 'server__tool' as ExposedName,
    definition: { name: 'tool', inputSchema },
  };
  const params = { name: 'tool', arguments: args };
  const operation = { kind: 'tool' as const, upstream, entry, method: 'tools/call', params };
  return policyCall({ operation, checksArguments: true, ...parts });
}

const needsNumber = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

describe('the guard that validates', () => {
  const answer = Payload.of({});
  const sent: Call[] = [];
  const guard = validate();
  const run = (call: Call): Promise<Payload> =>
    guard(call, (passed) => {
      sent.push(passed);
      return Promise.resolve(answer);
    });

  test('sends what fits, unchanged', async () => {
    sent.length = 0;
    for (const call of [callOf(needsNumber, { a: 1 }), callOf({}, undefined), callOf('none', {})]) {
      expect(await run(call)).toBe(answer);
      expect(sent.at(-1)).toBe(call);
    }
  });

  test('sends nothing that does not fit, and says why with the schema', async () => {
    sent.length = 0;
    for (const args of [{ a: 'x' }, {}, undefined]) {
      const error: unknown = await run(callOf(needsNumber, args)).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code: 'ARGUMENTS_INVALID' });
      expect(String(error)).toContain(JSON.stringify(needsNumber));
    }
    expect(sent).toEqual([]);
  });

  test('takes a number that JavaScript would round for a number', async () => {
    // This is how such a number travels through us.
    expect(await run(callOf(needsNumber, { a: '\uE000exact:9223372036854775807' }))).toBe(answer);
  });

  test('leaves calls alone that do not ask for it, and what is no tool', async () => {
    const { checksArguments: _, ...unasked } = callOf(needsNumber, { a: 'x' });
    expect(await run(unasked)).toBe(answer);
    const operation = { kind: 'prompt' as const, upstream, method: 'prompts/get', params: {} };
    expect(await run(policyCall({ operation, checksArguments: true }))).toBe(answer);
  });

  test('goes on when there are more schemas than are kept', async () => {
    for (let at = 0; at < 1_010; at += 1) {
      await run(callOf({ title: `schema ${at}`, type: 'object' }, {}));
    }
    expect(await run(callOf(needsNumber, { a: 1 }))).toBe(answer);
  }, 20_000);
});
