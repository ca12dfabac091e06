import { describe, expect, test } from 'vitest';

import { Cancellation } from '../core/lib/cancellation.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import type { MessageOrigin } from '../protocol/rpc-client.ts';
import { findRequestingClient, forwardQuestion } from './server-messages.ts';

function client(session: string): RequestingClient {
  return {
    session,
    capabilities: {},
    logLevel: undefined,
    deadline: undefined,
    ask: (method) => Promise.resolve({ by: session, method }),
    log: () => {},
  };
}

const [ann, anotherOfAnn, bob] = [client('ann'), client('ann'), client('bob')];

describe('client lookup', () => {
  test.each([
    [
      'takes the client on whose stream the message came',
      { streamClient: bob, pendingClients: [ann, bob] },
      bob,
    ],
    ['takes the only waiting client', { streamClient: undefined, pendingClients: [ann] }, ann],
    [
      'takes the latest call when all waiting calls are of one client',
      { streamClient: undefined, pendingClients: [ann, anotherOfAnn] },
      anotherOfAnn,
    ],
    ['finds none when two clients wait', { streamClient: undefined, pendingClients: [ann, bob] }, undefined],
    ['finds none when no client waits', { streamClient: undefined, pendingClients: [] }, undefined],
    [
      'finds none when another client has a cancelled call',
      { streamClient: undefined, pendingClients: [ann], abandonedClients: [bob] },
      undefined,
    ],
    [
      'takes the waiting client when the cancelled call is its own',
      { streamClient: undefined, pendingClients: [ann], abandonedClients: [anotherOfAnn] },
      ann,
    ],
    [
      'never takes a client with only a cancelled call',
      { streamClient: undefined, pendingClients: [], abandonedClients: [ann] },
      undefined,
    ],
  ] satisfies readonly [
    string,
    Omit<MessageOrigin, 'abandonedClients'> & Partial<MessageOrigin>,
    RequestingClient | undefined,
  ][])('client lookup: %s', (_title, origin, expected) => {
    expect(findRequestingClient({ abandonedClients: [], ...origin })).toBe(expected);
  });
});

describe('server questions', () => {
  const cancellation = new Cancellation();

  test('question: is passed to the waiting client', async () => {
    const origin = { streamClient: undefined, pendingClients: [ann], abandonedClients: [] };
    expect(await forwardQuestion('roots/list', undefined, { origin, cancellation })).toEqual({
      by: 'ann',
      method: 'roots/list',
    });
  });

  test('question: answers roots/list with an empty list before any call', async () => {
    const origin = { streamClient: undefined, pendingClients: [], abandonedClients: [] };
    expect(await forwardQuestion('roots/list', undefined, { origin, cancellation })).toEqual({ roots: [] });
  });

  test.each([[[]], [[ann, bob]]])(
    'question: is rejected when it cannot be assigned to one client',
    (pendingClients) => {
      const origin = { streamClient: undefined, pendingClients, abandonedClients: [] };
      expect(() => forwardQuestion('elicitation/create', {}, { origin, cancellation })).toThrow(
        /could belong/,
      );
    },
  );
});
