import { describe, expect, test, vi } from 'vitest';

import { UnsentError } from '../protocol/client-transport.ts';
import type { ClientTransport, OutgoingMessage, TransportEvents } from '../protocol/client-transport.ts';
import { fenceTransport, reportUnreadRequests } from './transport-wrappers.ts';

const notification: OutgoingMessage = {
  kind: 'notification',
  method: 'notifications/cancelled',
  text: '{}',
};

function request(id: number): OutgoingMessage {
  return { kind: 'request', id, method: 'tools/call', params: undefined, text: '{}' };
}

describe('fenceTransport', () => {
  async function openFenced(mayWrite: (() => boolean) | undefined) {
    const sent: OutgoingMessage[] = [];
    const failures: [number, Error][] = [];
    let closed = 0;
    const events: TransportEvents = {
      onMessage: () => {},
      onRequestFailed: (id, error) => void failures.push([id, error]),
      onClosed: () => {},
    };
    const open = (): Promise<ClientTransport> =>
      Promise.resolve({
        send: (message) => void sent.push(message),
        abandon: () => false,
        setProtocol: () => {},
        close: async () => void closed++,
      });
    const transport = await fenceTransport(open, mayWrite)(events);
    return { transport, sent, failures, closed: () => closed };
  }

  test('fenced transport: reports a request as unsent and closes once ownership is lost', async () => {
    let mayWrite = true;
    const { transport, sent, failures, closed } = await openFenced(() => mayWrite);
    transport.send(request(7));
    expect(sent).toEqual([request(7)]);
    mayWrite = false;
    transport.send(request(8));
    expect(sent).toHaveLength(1);
    expect(failures).toEqual([[8, expect.any(UnsentError)]]);
    expect(closed()).toBe(1);
  });

  test('fenced transport: drops notifications once ownership is lost', async () => {
    const { transport, sent, failures, closed } = await openFenced(() => false);
    transport.send(notification);
    expect([sent, failures, closed()]).toEqual([[], [], 1]);
  });

  test('fenced transport: passes everything through without a fence', async () => {
    const { transport, sent } = await openFenced(undefined);
    transport.send(request(7));
    expect(sent).toEqual([request(7)]);
  });
});

describe('reportUnreadRequests', () => {
  async function openReporting(hasUnreadInput: () => Promise<boolean>) {
    const reported: (number | string)[] = [];
    const sent: OutgoingMessage[] = [];
    const inner: { events?: TransportEvents } = {};
    const open = async (events: TransportEvents): Promise<ClientTransport> => {
      inner.events = events;
      return {
        send: (message) => void sent.push(message),
        abandon: () => false,
        setProtocol: () => {},
        close: async () => events.onClosed(new Error('The connection was closed.')),
      };
    };
    const transport = await reportUnreadRequests(
      open,
      hasUnreadInput,
    )({
      onMessage: () => {},
      onRequestFailed: (id, error) => void reported.push(error instanceof UnsentError ? id : String(error)),
      onClosed: ({ message }) => void reported.push(message),
    });
    return { transport, sent, reported, die: () => inner.events?.onClosed(new Error('gone')) };
  }

  test('unread input: reports only the last request as unsent, then the end of the transport', async () => {
    const { transport, reported, die } = await openReporting(async () => true);
    transport.send(request(1));
    transport.send(request(2));
    die();
    await vi.waitFor(() => expect(reported).toEqual([2, 'gone']));
  });

  test('unread input: reports nothing as unsent when everything was read', async () => {
    const { transport, reported, die } = await openReporting(async () => false);
    transport.send(request(1));
    die();
    await vi.waitFor(() => expect(reported).toEqual(['gone']));
  });

  test('unread input: reports no request as unsent when another message followed it', async () => {
    const { transport, reported, die } = await openReporting(async () => true);
    transport.send(request(1));
    transport.send(notification);
    die();
    await vi.waitFor(() => expect(reported).toEqual(['gone']));
  });

  test('unread input: writes nothing to a dead server and reports requests as unsent', async () => {
    const { transport, sent, reported, die } = await openReporting(async () => false);
    transport.send(request(1));
    die();
    transport.send(request(2));
    transport.send(notification);
    expect(sent).toEqual([request(1)]);
    await vi.waitFor(() => expect(reported).toEqual([2, 'gone']));
  });

  test('unread input: is not checked when the gateway closes the transport', async () => {
    const hasUnreadInput = vi.fn(async () => true);
    const { transport, reported } = await openReporting(hasUnreadInput);
    transport.send(request(1));
    await transport.close();
    expect(reported).toEqual(['The connection was closed.']);
    expect(hasUnreadInput).not.toHaveBeenCalled();
  });
});
