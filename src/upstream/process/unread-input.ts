import { readSync } from 'node:fs';
import type { Writable } from 'node:stream';

import { UnsentError } from '../../wire/stream.ts';
import type { MessageStream, StreamEvents } from '../../wire/stream.ts';

type Open = (events: StreamEvents) => Promise<MessageStream>;

/**
 * A server that dies may not have read the end of what it was sent. Then it has not seen the last message whole and cannot have acted on
 * it: if that is a request, it is said to be unsent, and can be made of the next process. Of those before it nobody knows.
 */
export function tellingUnread(open: Open, isInputLeft: () => Promise<boolean>): Open {
  return async (events) => {
    let last: number | undefined;
    let isOver = false;
    let isClosing = false;
    const unsent = (id: number): void =>
      events.failed(id, new UnsentError('The server ended before it had read the request.'));
    const stream = await open({
      ...events,
      closed(error) {
        isOver = true;
        if (last === undefined || isClosing) return events.closed(error);
        void isInputLeft().then((isLeft) => {
          if (isLeft && last !== undefined) unsent(last);
          events.closed(error);
        });
      },
    });
    return {
      send(message) {
        if (!isOver) {
          last = message.kind === 'request' ? message.id : undefined;
          return stream.send(message);
        }
        if (message.kind === 'request') unsent(message.id);
      },
      abandon: (id) => stream.abandon(id),
      negotiated: (era, protocol) => stream.negotiated(era, protocol),
      close() {
        isClosing = true;
        return stream.close();
      },
    };
  };
}

/**
 * Whether a process that has ended left some of its input unread. Linux says so to whoever reads from our end of the pipe, once, and there
 * is nothing else to read; other systems do not tell, and then nothing counts as unread.
 */
export function hasUnread(stdin: Writable): boolean {
  // What was written last has met a closed pipe.
  if (stdin.errored !== null) return true;
  // Node tells the descriptor nowhere else; without it everything is as on other systems.
  const fd = (stdin as { readonly _handle?: { readonly fd?: number } | null })._handle?.fd ?? -1;
  if (process.platform !== 'linux' || fd < 0) return false;
  try {
    readSync(fd, Buffer.alloc(1));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
  }
}
