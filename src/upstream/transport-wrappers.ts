import { UnsentError } from '../protocol/client-transport.ts';
import type { OpenTransport } from '../protocol/client-transport.ts';

/**
 * Wraps a transport so that it closes instead of writing once `mayWrite` returns false, because another gateway may run the server by
 * then. It reports the unwritten request as unsent, so that the request can be sent over another connection.
 */
export function fenceTransport(open: OpenTransport, mayWrite: (() => boolean) | undefined): OpenTransport {
  if (mayWrite === undefined) return open;
  return async (events) => {
    const transport = await open(events);
    return {
      send(message) {
        if (mayWrite()) return transport.send(message);
        if (message.kind === 'request')
          events.onRequestFailed(message.id, new UnsentError('Another gateway may run this server by now.'));
        void transport.close();
      },
      abandon: (id) => transport.abandon(id),
      setProtocol: (era, protocol) => transport.setProtocol(era, protocol),
      close: () => transport.close(),
    };
  };
}

/**
 * Wraps the transport to a process so that the last request is reported as unsent if the process exited before it had read all its
 * input. The process has not read that request completely, so it cannot have executed it, and the request can be sent to the next
 * process. Nothing is known about earlier requests.
 */
export function reportUnreadRequests(
  open: OpenTransport,
  hasUnreadInput: () => Promise<boolean>,
): OpenTransport {
  return async (events) => {
    let lastRequest: number | undefined;
    let hasEnded = false;
    let isClosing = false;
    const reportUnsent = (id: number): void =>
      events.onRequestFailed(id, new UnsentError('The server ended before it had read the request.'));
    const transport = await open({
      ...events,
      onClosed(error) {
        hasEnded = true;
        if (lastRequest === undefined || isClosing) return events.onClosed(error);
        void hasUnreadInput().then((hasUnread) => {
          if (hasUnread && lastRequest !== undefined) reportUnsent(lastRequest);
          events.onClosed(error);
        });
      },
    });
    return {
      send(message) {
        if (!hasEnded) {
          lastRequest = message.kind === 'request' ? message.id : undefined;
          return transport.send(message);
        }
        if (message.kind === 'request') reportUnsent(message.id);
      },
      abandon: (id) => transport.abandon(id),
      setProtocol: (era, protocol) => transport.setProtocol(era, protocol),
      close() {
        isClosing = true;
        return transport.close();
      },
    };
  };
}
