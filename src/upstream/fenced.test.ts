import { expect, test } from 'vitest';

import { UnsentError } from '../wire/stream.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../wire/stream.ts';
import { fenced } from './fenced.ts';

const request: Outgoing = { kind: 'request', id: 7, method: 'x', params: undefined, text: '{}' };

async function opened(mayWrite: (() => boolean) | undefined) {
  const sent: Outgoing[] = [];
  const failed: [number, Error][] = [];
  let closed = 0;
  const events: StreamEvents = {
    message: () => {},
    failed: (id, error) => void failed.push([id, error]),
    closed: () => {},
  };
  const open = (): Promise<MessageStream> =>
    Promise.resolve({
      send: (message) => void sent.push(message),
      abandon: () => false,
      negotiated: () => {},
      close: async () => void closed++,
    });
  return { stream: await fenced(open, mayWrite)(events), sent, failed, closed: () => closed };
}

test('writes for as long as it may, then says of a request that it was not sent, and ends', async () => {
  let may = true;
  const { stream, sent, failed, closed } = await opened(() => may);
  stream.send(request);
  expect(sent).toEqual([request]);
  may = false;
  stream.send({ ...request, id: 8 });
  expect(sent).toHaveLength(1);
  expect(failed).toEqual([[8, expect.any(UnsentError)]]);
  expect(closed()).toBe(1);
});

test('writes nothing else either', async () => {
  const { stream, sent, failed, closed } = await opened(() => false);
  stream.send({ kind: 'notification', method: 'x', text: '{}' });
  expect([sent, failed, closed()]).toEqual([[], [], 1]);
});

test('where nothing can end the right to write, the stream is as it was', async () => {
  const { stream, sent } = await opened(undefined);
  stream.send(request);
  expect(sent).toEqual([request]);
});
