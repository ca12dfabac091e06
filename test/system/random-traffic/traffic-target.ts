import type { Sent } from './model.ts';
import type { ServerCall } from './requests.ts';
import type { ClientKind } from './traffic.ts';

/** A call that a server received, with the parts that the model checks. */
export interface ReceivedCall extends Required<ServerCall> {
  /** The `_meta` of the call. */
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A gateway with clients that send texts and servers that record calls. */
export interface TrafficTarget extends AsyncDisposable {
  readonly kinds: readonly ClientKind[];
  /** `number` is the index of the text in the plan. */
  send(number: number, sent: Sent): void;
  /** Closes the connection on which a text was sent. */
  hangUp(number: number): void;
  /** Returns every message that a client received, in order. */
  received(client: number): readonly string[];
  heard(): readonly ReceivedCall[];
}
