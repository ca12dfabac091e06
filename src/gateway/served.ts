import type { Emitter } from '../lib/emitter.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era, ServerFacts } from '../model/server-facts.ts';
import type { CallRequest } from './calls/call-request.ts';
import type { ChangedLists, View } from './view.ts';

/** What a client is served from: all servers as one, or one of them alone. */
export interface Served {
  readonly events: Pick<Emitter<{ changed: ChangedLists }>, 'on'>;
  /** Only where one server is served alone: what it says of itself, or undefined when it has not said it in time. */
  introduction?(): Promise<ServerFacts | undefined>;
  /** Resolves once every list is known or the wait is over. */
  settled(): Promise<void>;
  view(caller: Caller): View;
  callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload>;
  getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload>;
  readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload>;
  complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload>;
  /** Whether a method that is neither a list nor a call of something listed can be passed on for a client of this era. */
  takes(method: string, era: Era): boolean;
  pass(caller: Caller, method: string, request: CallRequest): Promise<Payload>;
  /** Only where one server is served alone; what only that server can answer as it would. */
  leavesToServer?(method: string, params: JsonObject, era: Era): boolean;
  /** Only where one server is served alone: what a client tells it outside of requests. */
  notify?(method: string, params: JsonObject | undefined): void;
  /** Only where one server is served alone: a client that stays. */
  attach?(client: ClientBehind): Disposable;
  /** Only where one server is served alone: whether it serves a single client, who has it to itself. */
  readonly isForOne?: boolean;
  subscribe(
    caller: Caller,
    uri: string,
    onUpdate: (params: JsonObject) => void,
    behind?: ClientBehind,
  ): Promise<Disposable>;
  /** News of a task that somebody else may not follow; undefined when there is no such task for the caller. */
  watchTask(
    caller: Caller,
    id: string,
    onUpdate: (params: JsonObject) => void,
  ): Promise<Disposable> | undefined;
  wantLogs(level: string): void;
  endSession(session: string): void;
}
