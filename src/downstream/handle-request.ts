/**
 * The path of a client's request, one function per stage, in the order in which the stages run.
 *
 * Before this module:
 * 1. decode: `src/protocol/rpc-message.ts` parses the message that `src/protocol/stdio/stdio-server-transport.ts` or
 *    `src/downstream/http/mcp-endpoint.ts` received;
 * 2. authenticate: `src/downstream/http/mcp-routes.ts` checks Host and Origin, and asks `src/auth/downstream/authenticate.ts` for the
 *    caller; the caller over standard input is the local user;
 * 3. session: `src/downstream/sessions/sessions.ts` finds the session of a legacy client, and `src/downstream/client-session.ts` holds
 *    its state.
 *
 * In this module, for a `tools/call`:
 * 4. `handleRequest` waits for the handshake, and `dispatch` finds the handler of the method;
 * 5. `callServer` creates the call, and `routeCall` passes it to the exposure of the client (`src/exposure/exposure.ts`), which finds
 *    the tool of that name.
 *
 * Through `ClientCall.call` of `src/downstream/client-call.ts`, the exposure then calls the backend:
 * 6. resolve: `src/gateway/gateway.ts`, or `src/gateway/single-servers.ts`, finds the server and the tool;
 * 7. guards: `src/gateway/calls/call-pipeline.ts` runs the guards of `src/policy/guard-chain.ts`, which decide whether and when the
 *    server is called, and with which arguments;
 * 8. upstream: `src/upstream/upstream.ts` sends the request and waits for the response.
 *
 * Back in this module:
 * 9. encode: `finishCall` asks the client the questions that the server returned instead of a result. `sendCallResult` or
 *    `sendCallError` converts the outcome to the client's era with `src/downstream/encode-response.ts`. The transport writes it.
 */
import type { CallRequest } from '../gateway/calls/call-request.ts';
import { callerKey } from '../core/caller.ts';
import { Payload } from '../core/lib/payload.ts';
import { GatewayError, RpcError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';
import { readClientName, withoutEnvelope } from '../protocol/envelope.ts';
import { detectEra, LEGACY_VERSIONS, META_KEYS, MODERN_VERSION, RPC_ERROR_CODES } from '../protocol/era.ts';
import { checkParamHeaders } from '../protocol/http/check-modern-headers.ts';
import type { IncomingRequest } from '../protocol/client-connection.ts';
import { ClientCall } from './client-call.ts';
import type { ClientSession } from './client-session.ts';
import {
  encodeErrorForEra,
  encodeResultForEra,
  encodeToolError,
  invalidParamsError,
  requireStringParam,
} from './encode-response.ts';
import { handleDiscover, handleInitialize } from './methods/initialize.ts';
import { askUntilComplete, isInputRequired } from './questions/ask-until-complete.ts';
import { retryAfterPages } from './questions/retry-after-pages.ts';
import { retryAfterSignIn } from './questions/sign-in-offers.ts';

/** Returns the result of a request. Undefined means that the handler sends the response itself, now or later. */
type MethodHandler = (
  session: ClientSession,
  request: IncomingRequest,
  params: JsonObject,
  era: Era,
) => Promise<Payload | undefined> | Payload | undefined;

const COMMON_METHODS: readonly (readonly [string, MethodHandler])[] = [
  ['tools/call', callServer],
  ['prompts/get', callServer],
  ['resources/read', callServer],
  ['completion/complete', callServer],
  ['tools/list', listEntries],
  ['prompts/list', listEntries],
  ['resources/list', listEntries],
  ['resources/templates/list', listEntries],
];

const METHODS: Readonly<Record<Era, ReadonlyMap<string, MethodHandler>>> = {
  legacy: new Map<string, MethodHandler>([
    ...COMMON_METHODS,
    ['initialize', (session, _request, params) => handleInitialize(session, params)],
    ['ping', () => EMPTY_RESULT],
    ['logging/setLevel', changeSettings],
    ['resources/subscribe', changeSettings],
    ['resources/unsubscribe', changeSettings],
  ]),
  modern: new Map<string, MethodHandler>([
    ...COMMON_METHODS,
    ['server/discover', (session, _request, params) => handleDiscover(session, params)],
    ['subscriptions/listen', listenToChanges],
  ]),
};

const EMPTY_RESULT = Payload.of({});

/** Methods that do not wait for the response to `initialize`. */
const BEFORE_HANDSHAKE: ReadonlySet<string> = new Set(['initialize', 'ping']);

/** Methods whose results have caching fields in the modern era. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'resources/read',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

/** Stage 4: dispatches a request. Requests of a legacy client wait until the response to a pending `initialize` has been sent. */
export function handleRequest(session: ClientSession, request: IncomingRequest): void {
  const era = detectEra(request.method, request.params);
  const { handshake } = session;
  if (handshake === undefined || era === 'modern' || BEFORE_HANDSHAKE.has(request.method))
    return dispatch(session, request, era);
  void handshake.then(() => {
    if (!session.isClosed && request.cancellation.reason === undefined) dispatch(session, request, era);
  });
}

/** Stage 4: runs the handler of the method and sends its response. */
function dispatch(session: ClientSession, request: IncomingRequest, era: Era): void {
  const { method, params = {} } = request;
  try {
    if (era === 'modern') session.options.backend.declareClient(readCapabilities(params));
    session.options.clients?.countRequest(session, request, era);
    const handler = METHODS[era].get(method) ?? unknownMethodHandler(session, method, era);
    const response = handler(session, request, params, era);
    if (response === undefined) return;
    if (response instanceof Payload) return request.sendResult(response);
    const sent = response.then(
      (payload) => {
        if (payload !== undefined) sendResult(session, request, payload, era);
      },
      (error: unknown) => sendError(session, request, error, era),
    );
    // An `initialize` that is answered synchronously needs no handshake promise, because no later request can overtake it.
    if (method === 'initialize') session.handshake = sent.then(() => void (session.handshake = undefined));
  } catch (error) {
    sendError(session, request, error, era);
  }
}

/** Returns the capabilities of a modern client. Throws unless the request contains them and a supported protocol version. */
function readCapabilities(params: JsonObject): JsonObject {
  const meta = params['_meta'];
  const version = isJsonObject(meta) ? meta[META_KEYS.protocolVersion] : undefined;
  if (!isJsonObject(meta) || typeof version !== 'string')
    throw invalidParamsError(`_meta must have ${META_KEYS.protocolVersion}.`);
  if (version !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()], requested: version };
    const message = `Unsupported protocol version: ${version}`;
    throw new RpcError({ code: RPC_ERROR_CODES.unsupportedVersion, message, data });
  }
  const capabilities = meta[META_KEYS.clientCapabilities];
  if (!isJsonObject(capabilities))
    throw invalidParamsError(`_meta must have ${META_KEYS.clientCapabilities}.`);
  return capabilities;
}

/** Returns the handler for a method that is not in `METHODS`: some backends forward it to their server. */
function unknownMethodHandler(session: ClientSession, method: string, era: Era): MethodHandler {
  if (session.options.backend.canForward(method, era)) return callServer;
  throw new RpcError({ code: RPC_ERROR_CODES.methodNotFound, message: `Method not found: ${method}` });
}

async function listEntries(
  session: ClientSession,
  request: IncomingRequest,
  params: JsonObject,
  era: Era,
): Promise<Payload | undefined> {
  const { backend, lists, onListed } = session.options;
  const { method } = request;
  const clientName = readClientName(params);
  if (method !== 'tools/list' || session.exposure.dependsOnListings(era, clientName))
    await backend.whenListed();
  if (session.mustForward(method, params, era)) return callServer(session, request, params, era);
  if (params['cursor'] !== undefined) throw invalidParamsError('Unknown cursor: every list has one page.');
  const { view } = session;
  const exposure = session.exposure.for(era, clientName);
  const revealed = session.exposure.revealedFor(era);
  // A modern client has state only if it listens to changes. Without state, nothing is announced, so nothing is recorded.
  const state = era === 'legacy' ? session.state : session.existingState;
  state?.receivedLists.recordListing(method, { digests: session.exposure.digests(view, era, clientName) });
  const meta = session.listMeta(method, view, era);
  const list = lists.get(method, view, exposure, { era, revealed, meta });
  if (method === 'tools/list') onListed?.(() => session.view, exposure, list, session.sessionKey(era));
  return list;
}

/** Changes a setting of a legacy session, or forwards the request if a single server must answer it itself. */
function changeSettings(
  session: ClientSession,
  request: IncomingRequest,
  params: JsonObject,
  era: Era,
): Promise<Payload> | undefined {
  if (session.mustForward(request.method, params, era)) return callServer(session, request, params, era);
  const { settings } = session.state;
  switch (request.method) {
    case 'logging/setLevel':
      return settings.setLogLevel(params['level']);
    case 'resources/subscribe':
      return settings.subscribe(request, params);
    default:
      return settings.unsubscribe(params);
  }
}

function listenToChanges(session: ClientSession, request: IncomingRequest): Promise<undefined> | undefined {
  return session.state.subscriptions.listen(request);
}

/** Stage 5: makes the call. Its callbacks encode and send the outcome, so it returns no promise, which saves one per call. */
function callServer(
  session: ClientSession,
  request: IncomingRequest,
  params: JsonObject,
  era: Era,
): undefined {
  const call = new ClientCall(session, request, era);
  try {
    const result = era === 'modern' ? callParked(call, params) : routeCall(call, params);
    result.then(
      (payload) => finishCall(call, payload, params),
      (error: unknown) => sendCallError(call, error),
    );
  } catch (error) {
    sendCallError(call, error);
  }
}

/** Stage 5 for a modern client: a question of the server ends the request, and another request brings the answer. */
function callParked(call: ClientCall, params: JsonObject): Promise<Payload> {
  const { caller, parked, endpoint = '' } = call.client.options;
  const owner = { caller: callerKey(caller), endpoint, capabilities: call.capabilities };
  return parked.run(call.request, owner, (channel) => {
    call.park(channel);
    const { cancellation } = channel;
    return retryAfterPages(() => routeCall(call, params), { requestingClient: call, cancellation });
  });
}

/** Stage 5: passes a tool call to the exposure, and any other call directly to the backend. */
function routeCall(call: ClientCall, params: JsonObject): Promise<Payload> {
  const { client, caller, era } = call;
  const { method } = call.request;
  const { backend } = client.options;
  const request = toCallRequest(call, params);
  if (client.mustForward(method, params, era)) return backend.forward(caller, method, request);
  switch (method) {
    case 'tools/call': {
      const exposure = client.exposure.for(era, readClientName(params));
      return exposure.callTool(requireStringParam(params, 'name'), request, call);
    }
    case 'prompts/get': {
      const name = requireStringParam(params, 'name');
      return retryAfterSignIn(call, request, () => backend.getPrompt(caller, name, request));
    }
    case 'resources/read': {
      const uri = requireStringParam(params, 'uri');
      return retryAfterSignIn(call, request, () => backend.readResource(caller, uri, request));
    }
    case 'completion/complete': {
      const { ref } = params;
      if (!isJsonObject(ref)) throw invalidParamsError('ref must be an object.');
      return backend.complete(caller, ref, request);
    }
    default:
      return backend.forward(caller, method, request);
  }
}

/** Creates the request for the backend. It always has the same members in the same order, so that V8 uses one object shape. */
function toCallRequest(call: ClientCall, params: JsonObject): CallRequest {
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : NO_META;
  const { progressToken, 'trunkline/timeoutMs': timeoutMs } = meta;
  const wantsProgress = typeof progressToken === 'string' || typeof progressToken === 'number';
  const { headers } = call.request;
  return {
    session: call.serverSession,
    group: call.group,
    client: call.info,
    cancellation: call.cancellation,
    requestingClient: call,
    onProgress: wantsProgress
      ? (progress) => call.notify('notifications/progress', { ...progress, progressToken })
      : undefined,
    timeoutMs: typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs : undefined,
    shouldValidateArguments: undefined,
    params: withoutEnvelope(params),
    // Rejects a call whose headers differ from its arguments: a proxy routes by the headers, but the server reads the arguments.
    check:
      headers &&
      ((entry) => {
        const problem = checkParamHeaders(
          call.client.options.headerParams.get(entry),
          params['arguments'],
          headers,
        );
        if (problem !== undefined) throw new RpcError(problem);
      }),
  };
}

const NO_META: JsonObject = {};

/** Stage 9: asks a legacy client the questions that a modern server returned instead of a result. */
function finishCall(call: ClientCall, payload: Payload, params: JsonObject): void {
  if (call.era === 'modern' || !isInputRequired(payload)) return sendCallResult(call, payload);
  const { cancellation } = call.request;
  const repeat = (repeated: JsonObject): Promise<Payload> => routeCall(call, repeated);
  askUntilComplete(payload, { params, requestingClient: call, cancellation, repeat }).then(
    (result) => sendCallResult(call, result),
    (error: unknown) => sendCallError(call, error),
  );
}

/** Stage 9: encodes the result of a server. */
function sendCallResult(call: ClientCall, payload: Payload): void {
  const { client, request, era } = call;
  let result: Payload;
  try {
    result = encodeResultForEra(payload, era, { isCacheable: CACHEABLE.has(request.method) });
  } catch (error) {
    return sendCallError(call, error);
  }
  call.finish();
  sendResult(client, request, result, era);
}

/** Stage 9: encodes an error of a call. An error that a model can react to becomes a tool result, which the model reads. */
function sendCallError(call: ClientCall, error: unknown): void {
  const { client, request, era } = call;
  call.finish();
  const known = era === 'legacy' ? toLegacyError(error) : error;
  const toolError = request.method === 'tools/call' ? encodeToolError(known) : undefined;
  if (toolError === undefined) return sendError(client, request, known, era);
  sendResult(client, request, encodeResultForEra(toolError, era, { isCacheable: false }), era);
}

/** Replaces an error about missing capabilities: legacy clients do not know its code and cannot declare capabilities later. */
function toLegacyError(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.body.code !== RPC_ERROR_CODES.missingClientCapability)
    return error;
  const { data } = error.body;
  const required = isJsonObject(data) ? data['requiredCapabilities'] : undefined;
  const names = isJsonObject(required) ? Object.keys(required).join(', ').slice(0, 200) : '';
  const missing = names === '' ? 'a capability' : names;
  return new GatewayError(
    'QUESTION_DECLINED',
    `The server needs ${missing}, which the client did not declare.`,
    { cause: error },
  );
}

/** Sends a result, or an error if the result cannot be serialized. */
function sendResult(session: ClientSession, request: IncomingRequest, payload: Payload, era: Era): void {
  try {
    request.sendResult(payload);
  } catch (error) {
    sendError(session, request, error, era);
  }
}

/** Sends an error. Only errors that are neither a `GatewayError` nor an `RpcError` are logged, because they are bugs. */
function sendError(session: ClientSession, request: IncomingRequest, error: unknown, era: Era): void {
  if (!(error instanceof GatewayError) && !(error instanceof RpcError)) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const method = request.method.slice(0, 100);
    session.options.log.error('A request failed unexpectedly.', { method, reason });
  }
  request.sendError(encodeErrorForEra(error, era));
}
