import type { Cancellation } from '../core/lib/cancellation.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import { RpcError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { RPC_ERROR_CODES } from '../protocol/era.ts';
import type { MessageOrigin, RpcClientHandlers } from '../protocol/rpc-client.ts';
import type { IdOwners } from './id-owners.ts';
import { nameAskingServer } from './question-origin.ts';

export interface ServerMessageOptions {
  readonly onListChanged: () => void;
  /** Called with the params of a notification about a resource or a task. */
  readonly onUpdate: (params: JsonObject) => void;
  /** Called when the server asks a question without naming the call that it belongs to. */
  readonly onQuestion: () => void;
  /** Returns the client that the server may address outside of calls, if exactly one is attached. */
  readonly attachedClient: () => RequestingClient | undefined;
  readonly idOwners: IdOwners;
}

/** Requests of a server to the person or program that made a call. */
const QUESTIONS: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);
const LIST_CHANGES: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);
const UPDATES: ReadonlySet<string> = new Set(['notifications/resources/updated', 'notifications/tasks']);
/** Notifications about something that one client started; no other client may see them. */
const OWNED: ReadonlySet<string> = new Set([
  'notifications/tasks/status',
  'notifications/elicitation/complete',
]);
/** Notifications that concern the gateway and are not passed on. */
const CONSUMED: ReadonlySet<string> = new Set([
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/subscriptions/acknowledged',
]);

/**
 * Creates the handlers for requests and notifications that a server sends on its own. `onClientLeft` is called when a client leaves
 * while a question is open.
 */
export function createMessageHandlers(
  server: UpstreamName,
  options: ServerMessageOptions,
  onClientLeft: () => void,
): Pick<RpcClientHandlers, 'onRequest' | 'onNotification'> {
  return {
    onRequest: async (method, params, { origin, cancellation }) => {
      const client = addressedClient(origin, options);
      if (!QUESTIONS.has(method) && client?.hasSingleServer !== true)
        throw new RpcError({ code: RPC_ERROR_CODES.methodNotFound, message: `Method not found: ${method}` });
      // The server did not name the call. Calls must run one at a time from now on, unless the server has only one client.
      const isAmbiguous = origin.streamClient === undefined && origin.pendingClients.length > 0;
      if (isAmbiguous && client?.isOnlyClient !== true) {
        options.onQuestion();
        if (client !== undefined) client.onRequestEnd = onClientLeft;
      }
      if (method === 'elicitation/create') options.idOwners.recordElicitation(params, client);
      const named = client?.isAggregated === true ? nameAskingServer(method, params, server) : params;
      return forwardQuestion(method, named, { origin, cancellation, client });
    },
    onNotification: (method, params, origin) => {
      if (LIST_CHANGES.has(method)) options.onListChanged();
      else if (UPDATES.has(method)) {
        if (params !== undefined) options.onUpdate(params);
      } else if (method === 'notifications/message') {
        if (params !== undefined) addressedClient(origin, options)?.log(params);
      } else if (OWNED.has(method)) options.idOwners.notifyOwner(method, params);
      else if (!CONSUMED.has(method)) {
        const client = findRequestingClient(origin) ?? options.attachedClient();
        if (client?.hasSingleServer === true) client.sendNotification?.(method, params);
      }
    },
  };
}

/** Returns the client that a message is for. Outside of calls, the client is certain only if the server has no other client. */
function addressedClient(
  origin: MessageOrigin,
  { attachedClient }: ServerMessageOptions,
): RequestingClient | undefined {
  const requestingClient = findRequestingClient(origin);
  if (requestingClient !== undefined) return requestingClient;
  const attached = attachedClient();
  return attached?.isOnlyClient === true ? attached : undefined;
}

/**
 * Returns the client whose request caused a message, or undefined if the client is uncertain: it is never guessed, and messages are never
 * broadcast. Over HTTP, the stream identifies the client. On a shared pipe, the client is certain only while all pending and recently
 * abandoned requests belong to one session.
 */
export function findRequestingClient(origin: MessageOrigin): RequestingClient | undefined {
  if (origin.streamClient !== undefined) return origin.streamClient;
  const latest = origin.pendingClients.at(-1);
  if (latest === undefined) return undefined;
  const isSameSession = ({ session }: RequestingClient): boolean => session === latest.session;
  const isCertain =
    origin.pendingClients.every(isSameSession) && origin.abandonedClients.every(isSameSession);
  return isCertain ? latest : undefined;
}

/** Asks the client, or rejects the question with an error that tells the server why no client can be asked. */
export function forwardQuestion(
  method: string,
  params: JsonObject | undefined,
  context: {
    readonly origin: MessageOrigin;
    readonly cancellation: Cancellation;
    readonly client?: RequestingClient | undefined;
  },
): Promise<JsonObject> {
  const { origin, client = findRequestingClient(origin) } = context;
  if (client !== undefined) return client.ask(method, params, context.cancellation);
  const hasPending = origin.pendingClients.length > 0;
  // Many servers ask for roots as soon as they are connected, before any client has made a call.
  if (method === 'roots/list' && !hasPending) return Promise.resolve({ roots: [] });
  const message = hasPending
    ? 'Several clients have calls in flight; this question could belong to any of them.'
    : 'No client has a call in flight that this question could belong to.';
  throw new RpcError({ code: RPC_ERROR_CODES.internalError, message });
}
