import { describe, expect, test } from 'vitest';

import { upstreamConfig } from '../../../test/support/upstream-config.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { GatewayError } from '../../core/errors.ts';
import { silentLogger } from '../../observability/log.ts';
import type { OpenedServer } from '../../upstream/server-opener.ts';
import { Ownership } from '../ownership.ts';
import { createSharedServerOpener } from './shared-server-opener.ts';

/** Opens a shared server in a gateway that is joining the fleet and would run the server itself. */
function openDuringJoin(session?: string) {
  const joinAttempt = deferred<void>();
  let problem: GatewayError | undefined = new GatewayError('STORE_AWAY', 'It has not joined yet.');
  const ownership = new Ownership({
    name: 'server',
    epoch: 1,
    requestedAt: 0,
    surrenderMs: 1e3,
    clock: () => 0,
    onEnd: () => {},
  });
  const fleet = {
    firstJoinAttempt: joinAttempt.promise,
    joinProblem: () => problem,
    ownerships: { claim: () => Promise.resolve({ ownership }) },
  };
  const server = { client: { closed: new Promise(() => {}) } } as unknown as OpenedServer;
  const cancellation = new Cancellation();
  let starts = 0;
  const open = createSharedServerOpener({
    fleet: fleet as never, // The opener uses nothing else before it knows the owner of the server.
    log: silentLogger,
    open: () => {
      starts += 1;
      return Promise.resolve(server);
    },
  });
  const options = {
    era: undefined,
    identity: { info: {}, capabilities: {} },
    handlers: {} as never,
    cancellation,
    ...(session !== undefined && { session }),
  };
  const opening = open(upstreamConfig({ share: session === undefined ? 'fleet' : 'session' }), options).then(
    (opened) => (opened === server ? 'runs here' : opened),
    (error: unknown) => error,
  );
  const join = (): void => void (problem = undefined);
  return { opening, joinAttempt, cancellation, join, starts: () => starts };
}

describe('shared server during the join of a fleet', () => {
  test('shared server: opens once the gateway has joined the fleet', async () => {
    const { opening, joinAttempt, join } = openDuringJoin();
    join();
    joinAttempt.resolve();
    expect(await opening).toBe('runs here');
  });

  test('shared server: is unavailable when the gateway cannot join the fleet', async () => {
    const { opening, joinAttempt } = openDuringJoin();
    joinAttempt.resolve();
    expect(await opening).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  test.each([
    ['of the fleet', undefined],
    ['of a session', 'its session'],
  ])('shared server %s: is not started when it is cancelled during the join', async (_, session) => {
    const { opening, cancellation, starts } = openDuringJoin(session);
    const reason = new GatewayError('CALL_CANCELLED', 'The call was cancelled.');
    cancellation.cancel(reason);
    expect(await opening).toBe(reason);
    expect(starts()).toBe(0);
  });

  test('shared server: reports why the gateway has not joined when it times out during the join', async () => {
    const { opening, cancellation, starts } = openDuringJoin();
    cancellation.cancel(new GatewayError('UPSTREAM_UNAVAILABLE', 'It was not ready within 30 s.'));
    expect(await opening).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining(
        'cannot find out which one runs it: It has not joined yet.',
      ) as unknown,
    });
    expect(starts()).toBe(0);
  });
});
