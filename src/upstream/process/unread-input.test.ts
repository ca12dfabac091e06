import { PassThrough } from 'node:stream';

import { describe, expect, test, vi } from 'vitest';

import { UnsentError } from '../../wire/stream.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../../wire/stream.ts';
import { hasUnread, tellingUnread } from './unread-input.ts';

const cancelled: Outgoing = { kind: 'notification', method: 'notifications/cancelled', text: '{}' };

function request(id: number): Outgoing {
  return { kind: 'request', id, method: 'tools/call', params: undefined, text: '{}' };
}

async function opened(isInputLeft: () => Promise<boolean>) {
  const told: (number | string)[] = [];
  const sent: Outgoing[] = [];
  const inner: { events?: StreamEvents } = {};
  const open = async (events: StreamEvents): Promise<MessageStream> => {
    inner.events = events;
    return {
      send: (message) => void sent.push(message),
      abandon: () => false,
      negotiated: () => {},
      close: async () => events.closed(new Error('The connection was closed.')),
    };
  };
  const stream = await tellingUnread(
    open,
    isInputLeft,
  )({
    message: () => {},
    failed: (id, error) => void told.push(error instanceof UnsentError ? id : String(error)),
    closed: ({ message }) => void told.push(message),
  });
  return { stream, sent, told, die: () => inner.events?.closed(new Error('gone')) };
}

describe('tellingUnread', () => {
  test('says of the last request alone that it is unsent, and then that the stream is over', async () => {
    const { stream, told, die } = await opened(async () => true);
    stream.send(request(1));
    stream.send(request(2));
    die();
    await vi.waitFor(() => expect(told).toEqual([2, 'gone']));
  });

  test('says so of nothing when everything was read', async () => {
    const { stream, told, die } = await opened(async () => false);
    stream.send(request(1));
    die();
    await vi.waitFor(() => expect(told).toEqual(['gone']));
  });

  test('says so of no request when something else was sent after it', async () => {
    const { stream, told, die } = await opened(async () => true);
    stream.send(request(1));
    stream.send(cancelled);
    die();
    await vi.waitFor(() => expect(told).toEqual(['gone']));
  });

  test('writes nothing to a server that is gone, and says of a request that it was not sent', async () => {
    const { stream, sent, told, die } = await opened(async () => false);
    stream.send(request(1));
    die();
    stream.send(request(2));
    stream.send(cancelled);
    expect(sent).toEqual([request(1)]);
    await vi.waitFor(() => expect(told).toEqual([2, 'gone']));
  });

  test('asks nothing about a stream that we close ourselves', async () => {
    const look = vi.fn(async () => true);
    const { stream, told } = await opened(look);
    stream.send(request(1));
    await stream.close();
    expect(told).toEqual(['The connection was closed.']);
    expect(look).not.toHaveBeenCalled();
  });
});

describe('hasUnread', () => {
  test('is so when a write has met a closed pipe, and not where the system does not tell', async () => {
    const stdin = new PassThrough();
    expect(hasUnread(stdin)).toBe(false);
    stdin.on('error', () => {});
    stdin.destroy(new Error('EPIPE'));
    await vi.waitFor(() => expect(hasUnread(stdin)).toBe(true));
  });
});
