import type { Emitter } from '../core/lib/emitter.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era, ServerFacts } from '../core/server-facts.ts';
import type { CallRequest } from './calls/call-request.ts';
import type { ChangedLists, CatalogView } from './catalog-view.ts';

/**
 * Answers the requests of a client session: either the whole gateway, or one of its servers under that server's own names. The address
 * or the command that the client uses selects the backend, which never changes during a session.
 */
export type Backend = GatewayBackend | SingleServerBackend;

/** Serves all servers as one. The client receives the gateway's own description. */
export interface GatewayBackend extends CommonBackend {
  readonly kind: 'gateway';
}

/** Serves one server by itself. The client receives the server's description, and unknown methods are forwarded to the server. */
export interface SingleServerBackend extends CommonBackend {
  readonly kind: 'single-server';
  /** Whether only one client can ever use the server, as with `trunkline wrap`. */
  readonly hasSingleClient: boolean;
  /** Resolves with the server's description of itself, or undefined if the server has not sent it in time. */
  waitForFacts(): Promise<ServerFacts | undefined>;
  /** Whether the server must answer this request itself, because the gateway's answer would differ. */
  mustForward(method: string, params: JsonObject, era: Era): boolean;
  /** Sends a notification of a client to the server. */
  notify(method: string, params: JsonObject | undefined): void;
  /** Registers a client that the server may contact outside of calls, until the result is disposed. */
  attach(client: RequestingClient): Disposable;
}

/** Subscriptions by task id. Each promise resolves when the upstream has accepted the subscription. */
export type TaskSubscriptions = ReadonlyMap<string, Promise<Disposable>>;

interface CommonBackend {
  readonly events: Pick<Emitter<{ changed: ChangedLists }>, 'on'>;
  /** Resolves when every list is known, or when the time limit for that has passed. */
  whenListed(): Promise<void>;
  view(caller: Caller): CatalogView;
  callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload>;
  getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload>;
  readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload>;
  complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload>;
  /** Whether a method that the gateway has no handler for can be sent to a server for a client of this era. */
  canForward(method: string, era: Era): boolean;
  forward(caller: Caller, method: string, request: CallRequest): Promise<Payload>;
  /** Calls `onUpdate` for every change of the resource until the result is disposed. */
  subscribe(
    caller: Caller,
    uri: string,
    onUpdate: (params: JsonObject) => void,
    requestingClient?: RequestingClient,
  ): Promise<Disposable>;
  /** Subscribes to the tasks among `ids` that belong to the caller. Each subscription calls `onUpdate` until it is disposed. */
  watchTasks(
    caller: Caller,
    ids: readonly string[],
    onUpdate: (params: JsonObject) => void,
  ): Promise<TaskSubscriptions>;
  /** Records what a client supports; the gateway declares to servers what at least one client supports. */
  declareClient(capabilities: JsonObject): void;
  /** Asks all servers for log messages of this level and above. */
  requestLogLevel(level: string): void;
  /** Ends the servers that only this client session used. */
  endSession(session: string): void;
}
