import { describe, expect, test } from 'vitest';

import { Cancellation } from '../lib/cancellation.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { Origin } from '../wire/peer.ts';
import { answerQuestion, placed } from './questions.ts';

function client(session: string): ClientBehind {
  return {
    session,
    capabilities: {},
    logLevel: undefined,
    limit: undefined,
    ask: (method) => Promise.resolve({ by: session, method }),
    log: () => {},
  };
}

const [ann, anotherOfAnn, bob] = [client('ann'), client('ann'), client('bob')];

describe('the client that a message of a server belongs to', () => {
  test.each([
    ['is the one on whose stream it came, whoever else waits', { own: bob, waiting: [ann, bob] }, bob],
    ['is the only one that waits', { own: undefined, waiting: [ann] }, ann],
    [
      'is told by its latest call when all that wait are the same',
      { own: undefined, waiting: [ann, anotherOfAnn] },
      anotherOfAnn,
    ],
    ['is unknown when two of them wait', { own: undefined, waiting: [ann, bob] }, undefined],
    ['is unknown when nobody waits', { own: undefined, waiting: [] }, undefined],
    [
      'is unknown when it may speak of what another one gave up',
      { own: undefined, waiting: [ann], givenUp: [bob] },
      undefined,
    ],
    [
      'is known when it gave up something itself',
      { own: undefined, waiting: [ann], givenUp: [anotherOfAnn] },
      ann,
    ],
    ['is never one that only gave something up', { own: undefined, waiting: [], givenUp: [ann] }, undefined],
  ] satisfies readonly [string, Omit<Origin, 'givenUp'> & Partial<Origin>, ClientBehind | undefined][])(
    '%s',
    (_title, origin, expected) => {
      expect(placed({ givenUp: [], ...origin })).toBe(expected);
    },
  );
});

describe('a question', () => {
  const cancellation = new Cancellation();

  test('is put to its client', async () => {
    const origin = { own: undefined, waiting: [ann], givenUp: [] };
    expect(await answerQuestion('roots/list', undefined, { origin, cancellation })).toEqual({
      by: 'ann',
      method: 'roots/list',
    });
  });

  test('for roots before any call is answered with none', async () => {
    const origin = { own: undefined, waiting: [], givenUp: [] };
    expect(await answerQuestion('roots/list', undefined, { origin, cancellation })).toEqual({ roots: [] });
  });

  test.each([[[]], [[ann, bob]]])('that cannot be placed is put to nobody', (waiting) => {
    const origin = { own: undefined, waiting, givenUp: [] };
    expect(() => answerQuestion('elicitation/create', {}, { origin, cancellation })).toThrow(/could belong/);
  });
});
