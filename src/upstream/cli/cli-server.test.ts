import { expect, test } from 'vitest';

import type { Cancellation } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import type { JsonObject } from '../../core/json.ts';
import { CliServer } from './cli-server.ts';

test('CLI server: cancels running calls on close and waits for them', async () => {
  const begun = deferred<Cancellation>();
  const ended = deferred<JsonObject>();
  const closed: string[] = [];
  const server = new CliServer(
    {
      info: {},
      list: () => Promise.resolve([]),
      call: (_name, _args, cancellation) => {
        begun.resolve(cancellation);
        return ended.promise;
      },
      forget: () => {},
      close: async () => void closed.push('backend'),
    },
    {
      onMessage: (text) => void closed.push(`said ${String(text)}`),
      onRequestFailed: () => {},
      onClosed: () => void closed.push('stream'),
    },
  );
  server.send({ kind: 'request', id: 1, method: 'tools/call', params: { name: 'x' }, text: '' });
  const cancellation = await begun.promise;
  const done = server.close().then(() => closed.push('done'));
  expect(cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
  expect(closed).not.toContain('done');
  ended.resolve({ content: [] });
  await done;
  // No response is sent for a call that no client waits for.
  expect(closed).toEqual(['stream', 'backend', 'done']);
});
