import { describe, expect, test } from 'vitest';

import { memoryView } from '../../../test/support/memory-view.ts';
import type { CallRequest } from '../../gateway/calls/call-request.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ExposureContext } from '../exposure.ts';
import { ScriptCalls } from './script-calls.ts';

type Send = (name: string, request: CallRequest) => Promise<Payload>;

const fine: Send = () => Promise.resolve(Payload.of({ content: [{ type: 'text', text: 'fine' }] }));

function callsOf(send: Send, request: Partial<CallRequest> = {}, maxChars = 1000): ScriptCalls {
  const view = memoryView(['read', 'write']);
  const context: ExposureContext = {
    caller: { id: 'local', via: 'stdio', profile: 'default' },
    view,
    listOwner: 'session',
    settled: () => Promise.resolve(view),
    call: () => Promise.reject(new Error('Questions would be left open.')),
    callUntilResult: send,
    reveal: () => {},
  };
  return new ScriptCalls({
    request: { params: {}, session: 's', cancellation: new Cancellation(), ...request },
    context,
    separator: '__',
    names: new WeakMap(),
    maxChars,
  });
}

const call = { id: 1, server: 'files', tool: 'read', args: '{"a":9223372036854775807}', raw: false };

describe('tool calls of a script', () => {
  test('script call: shares one group with its script and has its own cancellation', async () => {
    const made: CallRequest[] = [];
    const calls = callsOf((name, request) => {
      made.push(request);
      return fine(name, request);
    });
    await Promise.all([calls.call(call), calls.call({ ...call, tool: 'write' })]);
    const other = callsOf((name, request) => {
      made.push(request);
      return fine(name, request);
    });
    await other.call(call);
    expect(new Set(made.map(({ group }) => group)).size).toBe(2);
    expect(made[0]?.group).toBe(made[1]?.group);
    expect(new Set(made.map(({ cancellation }) => cancellation)).size).toBe(3);
    expect(
      made.every(
        ({ shouldValidateArguments, session }) => shouldValidateArguments === true && session === 's',
      ),
    ).toBe(true);
  });

  test('script call: passes exact arguments and metadata, and nothing else of the request', async () => {
    let made: JsonObject | undefined;
    const params = {
      name: 'run_code',
      arguments: { code: 'x' },
      requestState: 'y',
      _meta: { 'example.com/x': 1 },
    };
    const calls = callsOf(
      (name, request) => {
        made = request.params;
        return fine(name, request);
      },
      { params },
    );
    await calls.call(call);
    expect(made).toEqual({
      name: 'files__read',
      arguments: { a: '\uE000exact:9223372036854775807' },
      _meta: { 'example.com/x': 1 },
    });
  });

  test('script call: is cancelled with the script while it runs', async () => {
    const reasons: string[] = [];
    const calls = callsOf(
      (_, { cancellation }) =>
        new Promise((_resolve, reject) => {
          cancellation.onCancel((reason) => {
            reasons.push(reason.message);
            reject(reason);
          });
        }),
    );
    const both = Promise.all([calls.call(call), calls.call(call)]);
    await Promise.resolve();
    calls.cancel(new GatewayError('CALL_CANCELLED', 'over'));
    expect(await both).toEqual(
      Array.from({ length: 2 }, () => ({
        kind: 'error',
        json: '{"message":"over","code":"CALL_CANCELLED","tool":"read"}',
      })),
    );
    expect(reasons).toEqual(['over', 'over']);
    calls.cancel(new Error('again'));
    expect(reasons).toHaveLength(2);
  });

  test.each([
    [
      'of the gateway',
      new GatewayError('UPSTREAM_BUSY', 'too much'),
      { message: 'too much', code: 'UPSTREAM_BUSY' },
    ],
    ['of the protocol', new RpcError({ code: -32000, message: 'no' }), { message: 'no', code: -32000 }],
    [
      'that are internal, without their message',
      new Error('secret'),
      { message: 'Internal error.', code: 'INVARIANT' },
    ],
  ])('script call: reports errors %s', async (_, error, expected) => {
    const { json } = await callsOf(() => Promise.reject(error)).call(call);
    expect(JSON.parse(json)).toMatchObject(expected);
  });

  test('script call: rejects unknown names, invalid arguments and oversized results', async () => {
    const answers = await Promise.all([
      callsOf(fine).call({ ...call, server: 'file' }),
      callsOf(fine).call({ ...call, args: '[1]' }),
      callsOf(fine).call({ ...call, args: `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}` }),
      callsOf(fine, {}, 3).call(call),
    ]);
    expect(answers.map(({ json }) => (JSON.parse(json) as { code: string }).code)).toEqual([
      'ENTRY_NOT_FOUND',
      'ARGUMENTS_INVALID',
      'ARGUMENTS_INVALID',
      'SCRIPT_STOPPED',
    ]);
  });

  test('script call: shares the client with other calls but has its own listeners', async () => {
    const events: string[] = [];
    const answering: (() => void)[] = [];
    const requestingClient: RequestingClient = {
      session: 'b',
      capabilities: { elicitation: {} },
      logLevel: 'info',
      deadline: undefined,
      ask: () => new Promise((resolve) => answering.push(() => resolve({ action: 'accept' }))),
      log: ({ data }) => void events.push(`log ${String(data)}`),
    };
    const calls = callsOf(
      async (name, request) => {
        const inner = request.requestingClient as RequestingClient;
        inner.deadline = { setQuestionOpen: (isOpen) => events.push(`${name} ${isOpen ? 'asks' : 'knows'}`) };
        inner.onRequestEnd = () => events.push(`${name} left`);
        inner.log({ data: name });
        await inner.ask('elicitation/create', {}, request.cancellation);
        return fine(name, request);
      },
      { requestingClient },
    );
    const both = Promise.all([calls.call(call), calls.call({ ...call, tool: 'write' })]);
    await new Promise((resolve) => setImmediate(resolve));
    requestingClient.onRequestEnd?.();
    for (const answer of answering) answer();
    await both;
    requestingClient.onRequestEnd?.();
    expect(events.toSorted()).toEqual([
      'files__read asks',
      'files__read knows',
      'files__read left',
      'files__write asks',
      'files__write knows',
      'files__write left',
      'log files__read',
      'log files__write',
    ]);
  });
});
