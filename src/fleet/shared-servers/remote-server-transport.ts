import type { RequestingClient } from '../../core/requesting-client.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RawMessage } from '../../protocol/stdio/line-reader.ts';
import { UnsentError } from '../../protocol/client-transport.ts';
import type { ClientTransport, OutgoingMessage, TransportEvents } from '../../protocol/client-transport.ts';
import type { Channel } from '../channel.ts';
import type { Fleet } from '../fleet.ts';
import { parseReplicaError } from '../replica-error.ts';
import { serializeClientMetadata } from './message-metadata.ts';
import { serializeSharedServer } from './shared-server.ts';
import type { SharedServer } from './shared-server.ts';

export interface RemoteServerOptions {
  readonly fleetTransport: Fleet['transport'];
  /** The id of the replica that owns the server. */
  readonly owner: string;
  readonly server: SharedServer;
}

/** Opens a transport to a server that another replica runs; `accepted` is the response of that replica. */
export async function openRemoteServerTransport(
  { fleetTransport, owner, server }: RemoteServerOptions,
  events: TransportEvents,
): Promise<{ readonly transport: ClientTransport; readonly accepted: JsonObject }> {
  const clients = new Map<number, RequestingClient>();
  const receiver: MessageReceiver = { events, clients, channel: undefined };
  const { channel, accepted } = await fleetTransport.openChannel(owner, serializeSharedServer(server), {
    onMessage: (metadata, body) => receiveMessage(metadata, body, receiver),
    onClosed: (error) => events.onClosed(ownerLostError(error, server.server)),
  });
  receiver.channel = channel;
  const transport: ClientTransport = {
    send(message: OutgoingMessage) {
      // Only requests have a client that waits for the response.
      if (message.kind !== 'request') return channel.send(null, message.text);
      if (message.requestingClient !== undefined) clients.set(message.id, message.requestingClient);
      channel.send(serializeClientMetadata(message.requestingClient), message.text);
    },
    abandon(id) {
      clients.delete(id);
      return false;
    },
    setProtocol: () => {}, // The owner has negotiated the protocol with the server.
    async close() {
      channel.close();
      events.onClosed(new Error('The connection was closed.'));
    },
  };
  return { transport, accepted };
}

interface MessageReceiver {
  readonly events: TransportEvents;
  /** The clients that wait for a response, by the id of the request. */
  readonly clients: Map<number, RequestingClient>;
  /** Set once the owner has accepted the channel. */
  channel: Channel | undefined;
}

/** Passes on a message of the owner according to its metadata; see `OwnerMetadata`. */
function receiveMessage(metadata: unknown, body: RawMessage, receiver: MessageReceiver): void {
  const { events, clients, channel } = receiver;
  const { answers, during, failed, unsent } = isJsonObject(metadata) ? metadata : {};
  if (typeof answers === 'number') {
    clients.delete(answers);
    return events.onMessage(body);
  }
  if (typeof failed === 'number') {
    clients.delete(failed);
    return events.onRequestFailed(failed, parseReplicaError(parseBody(body)));
  }
  if (typeof unsent === 'number') {
    clients.delete(unsent);
    return events.onRequestFailed(unsent, new UnsentError('The owner of this server is giving it up.'));
  }
  if (typeof during !== 'number') return events.onMessage(body);
  const client = clients.get(during);
  // If the client leaves while a question is open, the owner decides what follows.
  if (client !== undefined) client.onRequestEnd = () => channel?.send({ left: during });
  events.onMessage(body, during);
}

function parseBody(body: RawMessage): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // `parseReplicaError` treats this as an error without a reason.
  }
}

/** Returns the reason that the owner gave for closing the channel, or an error that says that the owner was lost. */
function ownerLostError(cause: Error, server: string): GatewayError {
  if (cause instanceof GatewayError && cause.code !== 'REPLICA_AWAY') return cause;
  const text = `The gateway that ran server "${server}" was lost during the request; the request may or may not have been executed, so it was not repeated.`;
  return new GatewayError('UPSTREAM_CLOSED', text, { cause, details: { upstream: server } });
}
