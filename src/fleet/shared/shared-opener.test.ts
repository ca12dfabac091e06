import { describe, expect, test } from 'vitest';

import { upstreamConfig } from '../../../test/support/upstream-config.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import { GatewayError } from '../../model/errors.ts';
import { silentLogger } from '../../observe/log.ts';
import type { Opened } from '../../upstream/open-peer.ts';
import { Ownership } from '../ownership.ts';
import { sharedOpener } from './shared-opener.ts';

/** A gateway that has begun to join the others, and would run the server itself. */
function joining() {
  const attempted = deferred<void>();
  let problem: GatewayError | undefined = new GatewayError('STORE_AWAY', 'It has not joined yet.');
  const ours = new Ownership({
    ...{ name: 'server', epoch: 1, since: 0, surrenderMs: 1000, clock: () => 0 },
    onOver: () => {},
  });
  const fleet = {
    attempted: attempted.promise,
    problem: () => problem,
    ownerships: { claim: () => Promise.resolve({ ours }) },
  };
  // Nothing else of them is asked before it is known who runs the server.
  const options = { fleet: fleet as never, log: silentLogger };
  const opened = { peer: { closed: new Promise(() => {}) } } as unknown as Opened;
  const cancellation = new Cancellation();
  const open = sharedOpener({ ...options, open: () => Promise.resolve(opened) });
  const how = { era: undefined, handlers: {} as never, cancellation };
  const opening = open(upstreamConfig({ share: 'fleet' }), how).then(
    (got) => (got === opened ? 'runs here' : got),
    (error: unknown) => error,
  );
  return { opening, attempted, cancellation, joins: () => void (problem = undefined) };
}

describe('a server that runs once, while the gateway joins the others', () => {
  test('is opened when it has joined', async () => {
    const { opening, attempted, joins } = joining();
    joins();
    attempted.resolve();
    expect(await opening).toBe('runs here');
  });

  test('is refused when it cannot join', async () => {
    const { opening, attempted } = joining();
    attempted.resolve();
    expect(await opening).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  test('is awaited for no longer than the caller waits', async () => {
    const { opening, cancellation } = joining();
    cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The client gave up.'));
    expect(await opening).toBeInstanceOf(GatewayError);
  });
});
