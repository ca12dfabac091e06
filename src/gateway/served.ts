import type { Emitter } from '../lib/emitter.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { JsonObject } from '../model/json.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import type { CallRequest } from './call-request.ts';
import type { ChangedLists, View } from './view.ts';

/** What a client is served from: all servers as one, or one of them alone. */
export interface Served {
  readonly events: Emitter<{ changed: ChangedLists }>;
  /** Only where one server is served alone: what it says of itself, or undefined when it has not said it in time. */
  introduction?(): Promise<ServerFacts | undefined>;
  /** Resolves once every list is known or the wait is over. */
  settled(): Promise<void>;
  view(caller: Caller): View;
  callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload>;
  getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload>;
  readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload>;
  complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload>;
  subscribe(caller: Caller, uri: string, onUpdate: () => void): Promise<Disposable>;
  wantLogs(level: string): void;
  endSession(session: string): void;
}
