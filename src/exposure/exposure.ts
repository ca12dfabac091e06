import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { View } from '../gateway/view.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { JsonObject } from '../model/json.ts';

/** How a view is presented to a client. It is picked once per session and holds no state. */
export interface Exposure {
  readonly kind: 'direct' | 'search' | 'code';
  /** The kind of client whose limits it keeps to; absent where it looks the same to all. */
  readonly client?: string;
  instructions(view: View): string;
  /** Definitions as the client sees them, with those of `revealed` names if they would not be listed. */
  tools(view: View, revealed?: ReadonlySet<string>): readonly JsonObject[];
  /** Equal as long as `tools` gives the same list. */
  digest(view: View, revealed?: ReadonlySet<string>): string;
  callTool(name: string, request: CallRequest, context: ExposureContext): Promise<Payload>;
}

/** What an exposure may do for the one client that it answers. */
export interface ExposureContext {
  readonly caller: Caller;
  readonly view: View;
  /** The view once every server was listed or the wait for that is over. */
  settled(): Promise<View>;
  /** Already bound to the caller; an exposure cannot name another one. */
  call(name: string, request: CallRequest): Promise<Payload>;
  /** Like `call`, but what the server wants to know first is asked on the way, so that the result is the last. */
  callToEnd(name: string, request: CallRequest): Promise<Payload>;
  /** Lists tools for this client session from now on; nothing happens where there is none. */
  reveal(names: readonly string[]): void;
}

/** Which exposure a view is presented with, to a client that calls itself so. */
export type ExposureChoice = (view: View, client?: string) => Exposure;
