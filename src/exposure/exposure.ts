import type { CallRequest } from '../gateway/gateway.ts';
import type { View } from '../gateway/view.ts';
import type { Payload } from '../lib/payload.ts';
import type { JsonObject } from '../model/json.ts';

/** How a view is presented to a client. It is picked once per session and holds no state. */
export interface Exposure {
  readonly kind: 'direct';
  instructions(view: View): string;
  /** Definitions as the client sees them. */
  tools(view: View): readonly JsonObject[];
  /** `call` is already bound to the caller; an exposure cannot name another one. */
  callTool(
    name: string,
    request: CallRequest,
    call: (name: string, request: CallRequest) => Promise<Payload>,
  ): Promise<Payload>;
}
