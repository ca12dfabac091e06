import type { ClientBehind } from '../../model/client-behind.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Line as Text } from '../../wire/stdio/frame-lines.ts';
import { UnsentError } from '../../wire/stream.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../../wire/stream.ts';
import type { Channel } from '../channel.ts';
import type { Fleet } from '../fleet.ts';
import { errorOf } from '../problem.ts';
import { writeGuest } from './about.ts';
import { writePlace } from './server-place.ts';
import type { ServerPlace } from './server-place.ts';

/** Messages to and from a server that another gateway runs. */
export async function openGuestStream(
  {
    line,
    replica,
    place,
  }: { readonly line: Fleet['line']; readonly replica: string; readonly place: ServerPlace },
  events: StreamEvents,
): Promise<{ readonly stream: MessageStream; readonly said: JsonObject }> {
  const waiting = new Map<number, ClientBehind>();
  const made: { channel?: Channel } = {};
  const { channel, said } = await line.open(replica, writePlace(place), {
    said: (about, body) => take(about, body, { events, waiting, channel: made.channel }),
    closed: (error) => events.closed(lost(error, place.server)),
  });
  made.channel = channel;
  const stream: MessageStream = {
    send(message: Outgoing) {
      if (message.kind !== 'request') return channel.say(null, message.text);
      if (message.behind !== undefined) waiting.set(message.id, message.behind);
      channel.say(writeGuest(message.behind), message.text);
    },
    abandon(id) {
      waiting.delete(id);
      return false;
    },
    negotiated: () => {},
    async close() {
      channel.close();
      events.closed(new Error('The connection was closed.'));
    },
  };
  return { stream, said };
}

interface Receiver {
  readonly events: StreamEvents;
  readonly waiting: Map<number, ClientBehind>;
  readonly channel: Channel | undefined;
}

function take(about: unknown, body: Text, { events, waiting, channel }: Receiver): void {
  const { answers, during, failed, unsent } = isJsonObject(about) ? about : {};
  if (typeof answers === 'number') {
    waiting.delete(answers);
    return events.message(body);
  }
  if (typeof failed === 'number') {
    waiting.delete(failed);
    return events.failed(failed, errorOf(parsed(body)));
  }
  if (typeof unsent === 'number') {
    waiting.delete(unsent);
    return events.failed(unsent, new UnsentError('The gateway that ran this server gives it up.'));
  }
  if (typeof during !== 'number') return events.message(body);
  const behind = waiting.get(during);
  // Whether a client that leaves with a question matters is known where the server runs.
  if (behind !== undefined) behind.onLeft = () => channel?.say({ left: during });
  events.message(body, during);
}

function parsed(body: Text): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // The same as an error that says nothing.
  }
}

function lost(cause: Error, server: string): GatewayError {
  if (cause instanceof GatewayError && cause.code !== 'REPLICA_AWAY') return cause;
  const text = `Server "${server}" was lost with the gateway that ran it during the request; it may or may not have been executed, so it was not repeated.`;
  return new GatewayError('UPSTREAM_CLOSED', text, { cause, details: { upstream: server } });
}
