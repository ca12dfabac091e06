import { expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { RequestTracker } from '../request-tracker.ts';
import { type IncorrectBehaviour, connectIncorrectGateway } from '../incorrect-gateway.ts';
import { Random } from '../random.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';
import { SoakClient } from './soak-client.ts';

const patienceMs = 300;

function result(id: string | number, text: string, more: Readonly<Record<string, unknown>> = {}) {
  return { id, result: { content: [{ type: 'text', text }], ...more } };
}

function refusal(id: string | number, code: string) {
  return result(id, 'No.', { isError: true, _meta: { 'trunkline/code': code } });
}

function isCall({ method }: { readonly method: string }): boolean {
  return method === 'tools/call';
}

function isSteady({ params }: { readonly params: Readonly<Record<string, unknown>> }): boolean {
  return String(params['name']).startsWith('steady__');
}

const lies: readonly (readonly [what: string, lie: IncorrectBehaviour, complaint: RegExp])[] = [
  ['never answers', (told) => (isCall(told) ? [] : undefined), /has no answer: unanswered/],
  [
    'answers twice',
    ({ id, honest }) => [
      { id, result: honest },
      { id, result: honest },
    ],
    /got an unexpected or duplicate answer/,
  ],
  [
    'returns the result of another call',
    (told) => (isCall(told) ? [result(told.id, 'http-legacy.7')] : undefined),
    /was answered with http-legacy\.7/,
  ],
  [
    'rejects a call to a healthy server',
    (told) => (isCall(told) && isSteady(told) ? [refusal(told.id, 'UPSTREAM_CLOSED')] : undefined),
    /of a healthy server ended with UPSTREAM_CLOSED/,
  ],
  [
    'reports an internal error',
    (told) => (isCall(told) && !isSteady(told) ? [refusal(told.id, 'INVARIANT')] : undefined),
    /failed with an internal error/,
  ],
  [
    'asks about a call of another client',
    (told) =>
      isCall(told)
        ? [
            { id: `q${told.id}`, method: 'elicitation/create', params: { message: 'sse.3' } },
            result(told.id, told.tag),
          ]
        : undefined,
    /was asked about sse\.3, which it did not call/,
  ],
  [
    'sends progress of another client',
    ({ id, params, tag }) =>
      String(params['name']).endsWith('__steps') ? [progress('sse.3', 'sse.3'), result(id, tag)] : undefined,
    /received the progress of sse\.3/,
  ],
  [
    'mixes up the progress of two calls',
    ({ id, params, tag }) =>
      String(params['name']).endsWith('__steps') ? [progress(tag, 'alone.999'), result(id, tag)] : undefined,
    /progress of alone\.999 arrived with the token/,
  ],
  [
    'omits a healthy server from its list',
    ({ id, method }) => (method === 'tools/list' ? [{ id, result: { tools: [] } }] : undefined),
    /the list lacks steady__do/,
  ],
  [
    'returns the wrong resource',
    ({ id, method }) => (method === 'resources/read' ? [{ id, result: { contents: [] } }] : undefined),
    /\(resources\/read\): read /,
  ],
  [
    'omits a resource update',
    ({ id, params, tag }) => (params['name'] === 'steady__touch' ? [result(id, tag)] : undefined),
    /touched a resource, and its subscriber was not notified/,
  ],
];

function progress(token: string, message: string) {
  const params = { progressToken: token, progress: 1, message };
  return { method: 'notifications/progress', params };
}

test.for(lies)('soak client: detects a gateway that %s', async ([, lie, complaint]) => {
  expect((await violationsOf(lie, complaint)).join('\n')).toMatch(complaint);
});

test('soak client: accepts a gateway that behaves correctly', async () => {
  expect(await violationsOf(() => undefined, undefined)).toEqual([]);
});

test.for([
  ['stop', /has no answer: unanswered/],
  ['kill', undefined],
] as const)(
  'soak client: excuses unanswered calls after a kill but not after a stop (%s)',
  async ([how, complaint]) => {
    const silent: IncorrectBehaviour = (told) => (isCall(told) ? [] : undefined);
    const violations = await violationsOf(silent, complaint, { how, since: 0 });
    if (complaint === undefined) expect(violations).toEqual([]);
    else expect(violations.join('\n')).toMatch(complaint);
  },
);

/** Runs a client against a lying gateway, for 100 requests or until the awaited violation, and returns the violations. */
async function violationsOf(
  lie: IncorrectBehaviour,
  awaited: RegExp | undefined,
  ending?: SoakClient['ending'],
): Promise<readonly string[]> {
  const tracker = new RequestTracker(() => {});
  // A client of the standalone gateway uses nothing else of the environment.
  const environment = { standalone: { client: connectIncorrectGateway(lie) } } as unknown as SoakEnvironment;
  const kind = { name: 'alone', way: 'alone', era: 'legacy' } as const;
  const client = new SoakClient(kind, { environment, tracker, random: new Random(1), patienceMs });
  await client.open();
  client.ending = ending;
  const isFound = (): boolean =>
    awaited === undefined
      ? tracker.requestCount > 100
      : tracker.violations.some((text) => awaited.test(text));
  for (let round = 0; round < 50 && !isFound(); round += 1) {
    const request = tracker.requestCount;
    client.start();
    await eventually(() => tracker.requestCount > request + 20, { withinMs: 20_000 });
    await client.pause();
  }
  await client.close();
  return tracker.violations;
}
