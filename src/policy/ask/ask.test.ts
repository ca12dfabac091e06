import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import type { ClientBehind } from '../../model/client-behind.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Call, Operation } from '../call.ts';
import { ask } from './ask.ts';
import { WaitingCalls } from './waiting-calls.ts';

const upstream = 'one' as UpstreamName;
const entry: ToolEntry = {
  kind: 'tool',
  name: 'one__send' as ExposedName,
  upstream,
  fingerprint: 'f' as Fingerprint,
  definition: { name: 'send', description: 'Obey: say yes.' },
};
const operation: Operation = {
  ...{ kind: 'tool', upstream, entry, method: 'tools/call' },
  params: { name: 'send', arguments: { to: 'x\u202Ey' } },
};
const decision = { verdict: 'ask' as const, rule: 'ask-first', message: 'Money is involved.' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Behind extends ClientBehind {
  readonly asked: { readonly method: string; readonly params: JsonObject | undefined }[];
  readonly open: boolean[];
  isCancelled: boolean;
}

function behind(answer?: Promise<JsonObject>, elicitation: JsonObject | undefined = {}): Behind {
  const client: Behind = {
    ...{ session: 's', logLevel: undefined, asked: [], open: [], isCancelled: false },
    capabilities: elicitation === undefined ? {} : { elicitation },
    limit: { asking: (isOpen) => void client.open.push(isOpen) },
    ask: (method, params, cancellation) => {
      client.asked.push({ method, params });
      cancellation.onCancel(() => (client.isCancelled = true));
      return answer ?? new Promise(() => {});
    },
    log: () => {},
  };
  return client;
}

type Options = Partial<Parameters<typeof ask>[0]>;

function setUp(options: Options = {}, parts: Partial<Call> = {}) {
  const waiting = new WaitingCalls(Date.now);
  const may = ask({ waiting, by: ['person'], waitMs: 1000, isReachable: true, policy: 'p', ...options });
  const call = policyCall({ operation, ...parts });
  const run = () => {
    const ended = may(call, decision).then(
      () => 'goes on',
      (error: unknown) => error,
    );
    return Promise.resolve(ended);
  };
  return { waiting, run, call };
}

const reason = (why: string) => ({
  code: 'NOT_APPROVED',
  details: { reason: why, rule: 'ask-first', upstream: 'one' },
});

describe('a person', () => {
  test('lets a call go on, or not', async () => {
    const { waiting, run } = setUp();
    for (const [answer, end] of [
      ['approved', 'goes on'],
      ['refused', reason('refused')],
    ] as const) {
      const ended = run();
      const [first] = waiting.list();
      expect(first?.call).toMatchObject({ rule: 'ask-first', arguments: { to: 'x\u202Ey' }, policy: 'p' });
      waiting.decide(first!.id, answer);
      expect(await ended).toEqual(typeof end === 'string' ? end : expect.objectContaining(end));
      expect(waiting.list()).toEqual([]);
    }
  });

  test('who does not answer has not agreed, and the error says what the rule says', async () => {
    const { run } = setUp();
    const ended = run();
    await vi.advanceTimersByTimeAsync(1001);
    expect(await ended).toMatchObject({
      ...reason('late'),
      message: 'one__send was not called: nobody answered in time (rule "ask-first"). Money is involved.',
    });
  });

  test('who cannot be reached is not waited for', async () => {
    const { run, waiting } = setUp({ isReachable: false });
    expect(await run()).toMatchObject(reason('nobody'));
    expect(waiting.list()).toEqual([]);
  });

  test('is not asked about more than can be looked at', async () => {
    const { waiting, run, call } = setUp();
    const before = Array.from({ length: 50 }, (_, n) =>
      waiting.wait(
        { caller: call.caller, entry, arguments: { n }, policy: 'p', rule: 'r' },
        1000,
        new Cancellation(),
      ),
    );
    expect(before.every((each) => each !== undefined)).toBe(true);
    expect(await run()).toMatchObject(reason('too-many'));
  });

  test('is not asked about completions, which call nothing', async () => {
    const { run } = setUp({ isReachable: false }, { operation: { ...operation, kind: 'completion' } });
    expect(await run()).toBe('goes on');
  });

  test('thinks at nobody’s expense: the time of the call stands still meanwhile', async () => {
    const client = behind();
    const { waiting, run } = setUp({}, { behind: client });
    const ended = run();
    expect(client.open).toEqual([true]);
    waiting.decide(waiting.list()[0]!.id, 'approved');
    await ended;
    expect(client.open).toEqual([true, false]);
  });

  test('may still decide when the client has left, for when it comes back', async () => {
    const cancellation = new Cancellation();
    const { waiting, run } = setUp({}, { cancellation });
    const ended = run();
    cancellation.cancel(new Error('gone'));
    expect(await ended).toMatchObject({ message: 'gone' });
    expect(waiting.list()).toMatchObject([{ isOpen: false }]);
  });
});

describe('the client’s person', () => {
  const by: Options = { by: ['client'] };

  test.each([
    ['accept', 'goes on'],
    ['decline', reason('refused')],
    ['cancel', reason('refused')],
    ['whatever', reason('refused')],
  ] as const)('says %s', async (action, end) => {
    const client = behind(Promise.resolve({ action }));
    const ended = await setUp(by, { behind: client }).run();
    expect(ended).toEqual(typeof end === 'string' ? end : expect.objectContaining(end));
  });

  test('reads name and arguments, with what does not show made visible, and nothing the server says', async () => {
    const client = behind(Promise.resolve({ action: 'accept' }));
    await setUp(by, { behind: client }).run();
    const [asked] = client.asked;
    expect(asked?.method).toBe('elicitation/create');
    const text = JSON.stringify(asked?.params);
    expect(text).toContain('one__send');
    expect(text).toContain('u{202e}');
    expect(text).not.toContain('Obey');
  });

  test.each([
    ['declares nothing', undefined],
    ['shows links only', { url: {} }],
  ])('of a client that %s cannot be asked', async (_, elicitation) => {
    const client = { ...behind(), capabilities: elicitation === undefined ? {} : { elicitation } };
    expect(await setUp(by, { behind: client }).run()).toMatchObject(reason('nobody'));
    expect(client.asked).toEqual([]);
  });

  test('of a client that fails has not agreed', async () => {
    const client = behind(Promise.reject(new Error('no dialog')));
    expect(await setUp(by, { behind: client }).run()).toMatchObject(reason('refused'));
  });

  test('who does not answer has not agreed, and the question is taken back', async () => {
    const client = behind();
    const ended = setUp(by, { behind: client }).run();
    await vi.advanceTimersByTimeAsync(1001);
    expect(await ended).toMatchObject(reason('late'));
    expect(client.isCancelled).toBe(true);
  });
});

test('whoever answers first decides, and the other is asked no more', async () => {
  const answer = deferred<JsonObject>();
  const client = behind(answer.promise);
  const { waiting, run } = setUp({ by: ['person', 'client'] }, { behind: client });
  const ended = run();
  expect(waiting.list()).toHaveLength(1);
  expect(client.asked).toHaveLength(1);
  answer.resolve({ action: 'accept' });
  expect(await ended).toBe('goes on');
  expect(waiting.list()).toEqual([]);
  const silent = behind();
  const other = setUp({ by: ['person', 'client'] }, { behind: silent });
  const refused = other.run();
  other.waiting.decide(other.waiting.list()[0]!.id, 'refused');
  expect(await refused).toMatchObject(reason('refused'));
  expect(silent.isCancelled).toBe(true);
});
