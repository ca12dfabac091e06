import { UnsentError } from '../wire/stream.ts';
import type { MessageStream, StreamEvents } from '../wire/stream.ts';

type Open = (events: StreamEvents) => Promise<MessageStream>;

/** A stream that ends instead of writing when we may no longer write; what was to be written can be sent elsewhere. */
export function fenced(open: Open, mayWrite: (() => boolean) | undefined): Open {
  if (mayWrite === undefined) return open;
  return async (events) => {
    const stream = await open(events);
    return {
      send(message) {
        if (mayWrite()) return stream.send(message);
        if (message.kind === 'request')
          events.failed(message.id, new UnsentError('Another gateway may run this server by now.'));
        void stream.close();
      },
      abandon: (id) => stream.abandon(id),
      negotiated: (era, protocol) => stream.negotiated(era, protocol),
      close: () => stream.close(),
    };
  };
}
