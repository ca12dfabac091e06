import { GatewayError } from '../../core/errors.ts';
import type { RpcErrorBody } from '../../core/errors.ts';
import {
  LEGACY_VERSIONS,
  MODERN_VERSION,
  NEWEST_LEGACY_VERSION,
  RPC_ERROR_CODES,
  detectEra,
} from '../../protocol/era.ts';
import { readAccept, sendEmpty, sendRpcError } from '../../protocol/http/http-io.ts';
import type { AcceptedTypes } from '../../protocol/http/http-io.ts';
import { serializeError } from '../../protocol/rpc-message.ts';
import type { RpcMessage, RequestId } from '../../protocol/rpc-message.ts';
import {
  checkModernNotification,
  checkModernRequest,
  httpStatusForError,
} from '../../protocol/http/check-modern-headers.ts';
import { PostResponse } from '../../protocol/http/post-response.ts';
import { PostedRequest } from '../../protocol/http/posted-request.ts';
import type { ResponseWriter } from '../../protocol/http/posted-request.ts';
import type { ClientChannel, ClientConnection } from '../../protocol/client-connection.ts';
import {
  findBatchProblem,
  readMessage,
  sendRefusal,
  sendBusy,
  sendMethodNotAllowed,
} from './http-exchange.ts';
import type { EndpointDeps, AuthenticatedExchange, PostedMessage } from './http-exchange.ts';
import { serveStream } from './serve-stream.ts';
import type { OneWayMessage } from '../sessions/replicas/session-relay.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionLookup, Sessions } from '../sessions/sessions.ts';

type RequestMessage = Extract<RpcMessage, { kind: 'request' }>;
type NotificationMessage = Extract<RpcMessage, { kind: 'notification' }>;

const METHODS = 'POST, GET, DELETE';
/** A modern client receives notifications only on the stream of `subscriptions/listen`. */
const NO_CHANNEL: ClientChannel = { notify: () => {} };

/** The endpoint for streamable HTTP, which serves both eras on the same path. */
export class McpEndpoint {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  handle(exchange: AuthenticatedExchange): void {
    switch (exchange.request.method) {
      case 'POST':
        return this.#post(exchange);
      case 'GET':
        return this.#openStream(exchange);
      case 'DELETE':
        return this.#deleteSession(exchange);
      default:
        return sendMethodNotAllowed(exchange, METHODS);
    }
  }

  #post(exchange: AuthenticatedExchange): void {
    const accepts = readAccept(exchange.request.headers.accept);
    if (!accepts.json && !accepts.events) {
      return sendRefusal(exchange, 406, 'Accept must allow application/json or text/event-stream.');
    }
    readMessage(exchange, this.#deps, (message) => {
      if (isModern(exchange, message)) this.#modern(exchange, accepts, message);
      else if (message.kind === 'request' && message.method === 'initialize') {
        this.#initialize(exchange, accepts, message);
      } else this.#legacy(exchange, accepts, message);
    });
  }

  // The modern era: every POST is independent and has a connection of its own.

  #modern(exchange: AuthenticatedExchange, accepts: AcceptedTypes, message: PostedMessage): void {
    const { headers } = exchange.request;
    switch (message.kind) {
      case 'request': {
        const problem = checkModernRequest(message, headers);
        if (problem !== undefined) return sendModernError(exchange, problem, message.id);
        return this.#modernRequest(exchange, accepts, message);
      }
      case 'notification': {
        const problem = checkModernNotification(message, headers);
        if (problem !== undefined) return sendModernError(exchange, problem, null);
        return this.#modernNotification(exchange, message);
      }
      default:
        return sendRefusal(exchange, 400, 'The body must be one request or one notification.');
    }
  }

  #modernRequest(exchange: AuthenticatedExchange, accepts: AcceptedTypes, message: RequestMessage): void {
    const { log, open } = this.#deps;
    const onError = (error: unknown): void => {
      log.error('A request failed unexpectedly.', { method: message.method, error: String(error) });
    };
    let connection: ClientConnection | undefined;
    const response = this.#createResponse(exchange, accepts, {
      onClose: (closed) => {
        open.delete(closed);
        try {
          connection?.close();
        } catch (error) {
          onError(error);
        }
      },
    });
    const request = new PostedRequest(message, response, {
      headers: exchange.request.headers,
      statusFor: httpStatusForError,
      onSettled: () => {},
      onError,
    });
    response.addRequest(request);
    try {
      connection = this.#connect(exchange);
      connection.handleRequest(request);
    } catch (error) {
      onError(error);
      request.sendError({
        code: RPC_ERROR_CODES.internalError,
        message: 'The request failed inside the gateway.',
      });
    }
  }

  #modernNotification(exchange: AuthenticatedExchange, message: NotificationMessage): void {
    try {
      const connection = this.#connect(exchange);
      connection.handleNotification(message.method, message.params);
      connection.close();
    } catch (error) {
      this.#deps.log.error('A notification failed unexpectedly.', { error: String(error) });
    }
    sendEmpty(exchange.response, 202, exchange.headers);
  }

  #connect({ caller, path }: AuthenticatedExchange): ClientConnection {
    return this.#deps.connect({ caller, channel: NO_CHANNEL, transport: 'http', path });
  }

  // The legacy era: requests belong to sessions, which `initialize` opens.

  #initialize(exchange: AuthenticatedExchange, accepts: AcceptedTypes, message: RequestMessage): void {
    const { sessions, log } = this.#deps;
    // A session id cannot be created before the secret that encrypts it is loaded.
    const ready = sessions.ready();
    if (ready === undefined) return this.#openSession(exchange, accepts, message);
    ready
      .then(() => this.#openSession(exchange, accepts, message))
      .catch((error: unknown) => {
        log.error('The key for session ids is not available.', { error: String(error) });
        sendRefusal(exchange, 500, 'The session could not be opened.', message.id);
      });
  }

  #openSession(exchange: AuthenticatedExchange, accepts: AcceptedTypes, message: RequestMessage): void {
    const { sessions, open, log } = this.#deps;
    let session: Session | undefined;
    try {
      session = sessions.open(exchange.caller, exchange.path);
    } catch (error) {
      log.error('A session could not be opened.', { error: String(error) });
      const body = { code: RPC_ERROR_CODES.internalError, message: 'The session could not be opened.' };
      return sendRpcError(exchange.response, 200, { id: message.id, body, headers: exchange.headers });
    }
    if (session === undefined) return sendBusy(exchange, message.id);
    const opened = session;
    const response = this.#createResponse(exchange, accepts, {
      onClose: (closed) => {
        open.delete(closed);
        if (opened.protocol !== undefined) return;
        // Without a successful `initialize` the client has no session id, so it cannot use the session.
        sessions.stopServing(opened, new GatewayError('CALL_CANCELLED', 'The session was not opened.'));
      },
    });
    const request = opened.begin(message, handshakeWriter(opened, sessions, response));
    response.addRequest(request);
    opened.run(request);
  }

  #legacy(exchange: AuthenticatedExchange, accepts: AcceptedTypes, message: PostedMessage): void {
    this.#findSession(exchange, 'id' in message ? message.id : null, (session) => {
      switch (message.kind) {
        case 'request': {
          const response = this.#createResponse(exchange, accepts, { session });
          const request = session.begin(message, response);
          response.addRequest(request);
          return session.run(request);
        }
        case 'batch':
          return this.#batch(exchange, accepts, { session, messages: message.messages });
        default:
          return this.#receive(exchange, session, message);
      }
    });
  }

  #batch(
    exchange: AuthenticatedExchange,
    accepts: AcceptedTypes,
    batch: { readonly session: Session; readonly messages: readonly RpcMessage[] },
  ): void {
    const { session, messages } = batch;
    const problem = findBatchProblem(messages, session);
    if (problem !== undefined) return sendRefusal(exchange, 400, problem);
    // Notifications and responses get no response, so a batch without requests is answered with 202.
    const expected = messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
    const response =
      expected === 0
        ? undefined
        : this.#createResponse(exchange, accepts, { expected, isBatch: true, session });
    if (response === undefined) sendEmpty(exchange.response, 202, exchange.headers);
    for (const message of messages) {
      if (message.kind === 'request') {
        if (response === undefined) continue;
        const request = session.begin(message, response);
        response.addRequest(request);
        session.run(request);
      } else if (message.kind === 'invalid') {
        const error = { code: RPC_ERROR_CODES.invalidRequest, message: message.problem };
        response?.respond(serializeError(message.id, error), 200);
      } else {
        const forwarded = this.#deps.sessions.relay?.forward(session, message);
        if (forwarded === undefined) session.receive(message);
        else forwarded.catch(() => {}); // The response to a batch cannot report this failure.
      }
    }
  }

  /**
   * Handles a response or a notification of a client. If another replica sent the request that the client answers, or works on the request
   * that the client cancels, the message is forwarded to that replica.
   */
  #receive(exchange: AuthenticatedExchange, session: Session, message: OneWayMessage): void {
    const accept = (): void => sendEmpty(exchange.response, 202, exchange.headers);
    const forwarded = this.#deps.sessions.relay?.forward(session, message);
    if (forwarded === undefined) {
      session.receive(message);
      return accept();
    }
    forwarded.then(accept, (error: unknown) => {
      const text =
        error instanceof Error
          ? error.message
          : 'The gateway replica that waited for this response has stopped.';
      sendRefusal(exchange, 400, text);
    });
  }

  #openStream(exchange: AuthenticatedExchange): void {
    if (hasModernVersion(exchange)) return sendMethodNotAllowed(exchange, 'POST');
    if (!readAccept(exchange.request.headers.accept).events) {
      return sendRefusal(exchange, 406, 'Accept must allow text/event-stream.');
    }
    this.#findSession(exchange, null, (session) => serveStream(exchange, session, this.#deps));
  }

  #deleteSession(exchange: AuthenticatedExchange): void {
    if (hasModernVersion(exchange)) return sendMethodNotAllowed(exchange, 'POST');
    this.#findSession(exchange, null, (session) => {
      const reason = new GatewayError('CALL_CANCELLED', 'The client ended the session.');
      void this.#deps.sessions
        .endPermanently(session, reason)
        .then(() => sendEmpty(exchange.response, 204, exchange.headers));
    });
  }

  /** Calls `onFound` with the session that the request names, synchronously if this replica already serves it. */
  #findSession(
    exchange: AuthenticatedExchange,
    id: RequestId | null,
    onFound: (session: Session) => void,
  ): void {
    const { sessions, log } = this.#deps;
    const { 'mcp-protocol-version': version, 'mcp-session-id': sessionId } = exchange.request.headers;
    if (typeof version === 'string' && !LEGACY_VERSIONS.includes(version))
      return sendRefusal(exchange, 400, 'This MCP-Protocol-Version is not supported.', id);
    if (typeof sessionId !== 'string')
      return sendRefusal(exchange, 400, 'The Mcp-Session-Id header is missing; start with initialize.', id);
    const use = (found: SessionLookup): void => {
      if (found === 'busy') return sendBusy(exchange, id);
      if (found === 'unknown')
        return sendRefusal(exchange, 404, 'This session does not exist; start with initialize.', id);
      onFound(found);
    };
    const found = sessions.find(sessionId, exchange);
    if (!(found instanceof Promise)) return use(found);
    found
      .then((session) => {
        if (!exchange.response.destroyed) use(session);
      })
      .catch((error: unknown) => {
        log.error('A session could not be restored.', { error: String(error) });
        sendRefusal(exchange, 500, 'The session could not be restored.', id);
      });
  }

  #createResponse(
    exchange: AuthenticatedExchange,
    accepts: AcceptedTypes,
    options: {
      readonly expected?: number;
      readonly isBatch?: boolean;
      readonly onClose?: (closed: PostResponse) => void;
      /** A legacy session, in which a broken stream can be resumed. */
      readonly session?: Session;
    },
  ): PostResponse {
    const { open, limits } = this.#deps;
    const { expected = 1, isBatch = false, session } = options;
    const response = new PostResponse({
      response: exchange.response,
      headers: exchange.headers,
      accepts,
      limits,
      expected,
      isBatch,
      onClosed: options.onClose ?? ((closed) => open.delete(closed)),
      resumable: session?.resumable,
      supportsEmptyEvents: session?.protocol === NEWEST_LEGACY_VERSION,
    });
    open.add(response);
    return response;
  }
}

function isModern(exchange: AuthenticatedExchange, message: PostedMessage): boolean {
  if (hasModernVersion(exchange)) return true;
  if (message.kind !== 'request' && message.kind !== 'notification') return false;
  return detectEra(message.method, message.params) === 'modern';
}

function hasModernVersion({ request }: AuthenticatedExchange): boolean {
  return request.headers['mcp-protocol-version'] === MODERN_VERSION;
}

function sendModernError(exchange: AuthenticatedExchange, body: RpcErrorBody, id: RequestId | null): void {
  sendRpcError(exchange.response, 400, { id, body, headers: exchange.headers });
}

/** The maximum number of messages that wait for the response to `initialize`; further ones are dropped. */
const MAX_EARLY_MESSAGES = 100;

/** Adds the session id to a successful response to `initialize`. An error response has no id, since no session was opened. */
function handshakeWriter(
  session: Session,
  sessions: Pick<Sessions, 'idOf'>,
  response: PostResponse,
): ResponseWriter {
  const { headers } = response;
  const early: string[] = [];
  return {
    canNotify: response.canNotify,
    // The session id contains the outcome of the handshake, so the headers, and messages after them, must wait for it.
    sendMessage: (text) => {
      if (early.length < MAX_EARLY_MESSAGES) early.push(text);
    },
    respond: (text, status) => {
      if (session.facts !== undefined)
        response.headers = [...headers, 'Mcp-Session-Id', sessions.idOf(session)];
      for (const message of early) response.sendMessage(message);
      response.respond(text, status);
    },
    endCancelled: (id) => response.endCancelled(id),
  };
}
