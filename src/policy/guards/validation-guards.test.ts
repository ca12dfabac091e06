import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { ToolEntry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../core/ids.ts';
import type { Call } from '../guard.ts';
import { argumentValidationGuard } from './validation-guards.ts';

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
  return policyCall({ operation, shouldValidateArguments: true, ...parts });
}

const needsNumber = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

describe('argument validation', () => {
  const answer = Payload.of({});
  const sent: Call[] = [];
  const guard = argumentValidationGuard();
  const run = (call: Call): Promise<Payload> =>
    guard(call, (passed) => {
      sent.push(passed);
      return Promise.resolve(answer);
    });

  test('argument validation: sends valid arguments unchanged', async () => {
    sent.length = 0;
    for (const call of [callOf(needsNumber, { a: 1 }), callOf({}, undefined), callOf('none', {})]) {
      expect(await run(call)).toBe(answer);
      expect(sent.at(-1)).toBe(call);
    }
  });

  test('argument validation: rejects arguments that do not match the schema, and quotes the failing part of the schema', async () => {
    sent.length = 0;
    for (const args of [{ a: 'x' }, {}, undefined]) {
      const error: unknown = await run(callOf(needsNumber, args)).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code: 'ARGUMENTS_INVALID' });
      expect(String(error)).toContain(`The schema requires: ${JSON.stringify(needsNumber.properties)}`);
    }
    expect(sent).toEqual([]);
  });

  test('argument validation: accepts a number that JavaScript would round', async () => {
    // Numbers that would lose precision travel as marked strings.
    expect(await run(callOf(needsNumber, { a: '\uE000exact:9223372036854775807' }))).toBe(answer);
  });

  test('argument validation: ignores calls that do not request validation, and entries other than tools', async () => {
    const { shouldValidateArguments: _, ...withoutValidation } = callOf(needsNumber, { a: 'x' });
    expect(await run(withoutValidation)).toBe(answer);
    const operation = { kind: 'prompt' as const, upstream, method: 'prompts/get', params: {} };
    expect(await run(policyCall({ operation, shouldValidateArguments: true }))).toBe(answer);
  });

  test('argument validation: keeps 1,000 compiled schemas and compiles a dropped one again', async () => {
    const fresh = argumentValidationGuard();
    const check = (call: Call): Promise<Payload> => fresh(call, () => Promise.resolve(answer));
    let compiled = 0;
    const counted = (args: unknown): Call => {
      const call = callOf(needsNumber, args);
      Object.defineProperty(call.operation.entry?.definition, 'inputSchema', {
        get: () => {
          compiled += 1;
          return needsNumber;
        },
      });
      return call;
    };
    for (let times = 0; times < 3; times += 1) await check(counted({ a: 1 }));
    expect(compiled).toBe(1);
    for (let at = 1; at < 1_000; at += 1) await check(callOf({ title: `schema ${at}`, type: 'object' }, {}));
    await check(counted({ a: 1 }));
    expect(compiled).toBe(1);
    await check(callOf({ title: 'one too many', type: 'object' }, {}));
    await check(counted({ a: 1 }));
    expect(compiled).toBe(2);
    await expect(check(counted({ a: 'x' }))).rejects.toMatchObject({ code: 'ARGUMENTS_INVALID' });
  }, 20_000);
});
