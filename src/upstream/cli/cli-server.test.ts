import { expect, test } from 'vitest';

import type { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import type { JsonObject } from '../../model/json.ts';
import { CliServer } from './cli-server.ts';

test('closing gives up the calls that run, and is done when they are', async () => {
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
      message: (text) => void closed.push(`said ${String(text)}`),
      failed: () => {},
      closed: () => void closed.push('stream'),
    },
  );
  server.send({ kind: 'request', id: 1, method: 'tools/call', params: { name: 'x' }, text: '' });
  const cancellation = await begun.promise;
  const done = server.close().then(() => closed.push('done'));
  expect(cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
  expect(closed).not.toContain('done');
  ended.resolve({ content: [] });
  await done;
  // Nobody is told what nobody waits for.
  expect(closed).toEqual(['stream', 'backend', 'done']);
});
