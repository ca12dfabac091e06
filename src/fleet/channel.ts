import type { JsonObject } from '../core/json.ts';
import type { RawMessage } from '../protocol/stdio/line-reader.ts';
import type { EncodedMessage } from '../protocol/rpc-message.ts';

/** One of several independent streams of messages on a connection between two replicas. */
export interface Channel {
  /** Sends a message. `metadata` is a JSON value for the gateway at the other end; `body` is a text that arrives unchanged. */
  send(metadata: unknown, body?: EncodedMessage): void;
  /** Closes the channel and passes the reason, if there is one, to the other end. */
  close(reason?: Error): void;
}

export interface ChannelEvents {
  onMessage(metadata: unknown, body: RawMessage): void;
  /** Called once, unless this end closed the channel. The error is a GatewayError if the other end gave a reason. */
  onClosed(error: Error): void;
}

/**
 * Accepts a channel of another replica, or refuses it by rejecting. `accepted` is the response to that replica, and `events` receives the
 * messages of the channel.
 */
export type ChannelHandler = (
  request: JsonObject,
  context: ChannelContext,
) => Promise<{ readonly accepted: JsonObject; readonly events: ChannelEvents }>;

export interface ChannelContext {
  readonly channel: Channel;
  /** The id of the replica that opens the channel. */
  readonly from: string;
  /** Aborted when that replica closes the channel or disconnects. */
  readonly signal: AbortSignal;
}
