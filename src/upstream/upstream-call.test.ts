import { expect, test } from 'vitest';

import { Cancellation } from '../core/lib/cancellation.ts';
import { Payload } from '../core/lib/payload.ts';
import type { ReplyHandler } from '../protocol/rpc-client.ts';
import { PendingRequests } from './pending-requests.ts';
import { UpstreamCall } from './upstream-call.ts';
import type { UpstreamCallOwner, UpstreamRequest } from './upstream-call.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** A server that takes one call at a time; the test answers the requests that were sent. `connectError` fails one connection attempt. */
function serialServer(): UpstreamCallOwner & { readonly sent: ReplyHandler[]; connectError?: Error } {
  const sent: ReplyHandler[] = [];
  const connection = {
    opened: {},
    idOwners: { recordResult() {}, recordError() {} },
    requestStarted() {},
    requestEnded() {},
    send: (_: UpstreamRequest, reply: ReplyHandler) => void sent.push(reply),
  } as unknown as UpstreamConnection;
  const pending = new PendingRequests();
  pending.serialize();
  return {
    sent,
    pending,
    connection() {
      return this.connectError === undefined ? connection : undefined;
    },
    connect() {
      const error = this.connectError!;
      delete this.connectError;
      return Promise.reject(error);
    },
    requestStarted() {},
    requestEnded() {},
  };
}

function call(server: UpstreamCallOwner): Promise<Payload> {
  const options = { cancellation: new Cancellation() };
  return UpstreamCall.run(server, { method: 'tools/call', params: {}, options, isCall: true });
}

/** Lets every promise that is already resolved run its handlers. */
async function settle(): Promise<void> {
  await new Promise((resolve) => void setImmediate(resolve));
}

test('upstream call: a failed call lets the next one in the queue start', async () => {
  const server = serialServer();
  server.connectError = new Error('no connection');
  const failing = call(server);
  const next = call(server);
  await expect(failing).rejects.toThrow('no connection');
  await settle();
  expect(server.sent).toHaveLength(1);
  server.sent[0]!.onResult(Payload.of({ content: [] }));
  expect((await next).value).toEqual({ content: [] });
});

test('upstream call: gets its result after the queue was released for the next call', async () => {
  const server = serialServer();
  const released = call(server);
  const next = call(server);
  await settle();
  expect(server.sent).toHaveLength(1);
  server.pending.queue!.releaseCurrent();
  await settle();
  expect(server.sent).toHaveLength(2);
  server.sent[0]!.onResult(Payload.of('first'));
  server.sent[1]!.onResult(Payload.of('second'));
  expect((await released).value).toBe('first');
  expect((await next).value).toBe('second');
  await server.pending.drained();
});
