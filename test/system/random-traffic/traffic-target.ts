import type { Sent } from './model.ts';
import type { ServerCall } from './requests.ts';
import type { ClientKind } from './traffic.ts';

/** What a server heard, as far as the model speaks of it. */
export interface ReceivedCall extends Required<ServerCall> {
  /** What clients wrote into `_meta` for themselves and for servers. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A gateway with clients that send texts, and servers that remember what they heard. */
export interface TrafficTarget extends AsyncDisposable {
  readonly kinds: readonly ClientKind[];
  /** `number` is the place of the text among all of them. */
  send(number: number, sent: Sent): void;
  /** Closes the connection that a text went over. */
  hangUp(number: number): void;
  /** Every message that a client got, in order. */
  received(client: number): readonly string[];
  heard(): readonly ReceivedCall[];
}
