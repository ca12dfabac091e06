import { GatewayError } from '../model/errors.ts';
import type { RpcErrorBody } from '../model/errors.ts';
import { MODERN_VERSION, NEWEST_LEGACY, RPC, eraOf } from '../wire/era.ts';
import { readAccept, sendEmpty, sendRpcError } from '../wire/http/http-server.ts';
import type { Accepts } from '../wire/http/http-server.ts';
import { errorText } from '../wire/message.ts';
import type { Message, RequestId } from '../wire/message.ts';
import {
  modernNotificationProblem,
  modernRequestProblem,
  modernStatus,
} from '../wire/http/modern-headers.ts';
import { PostExchange } from '../wire/http/post-exchange.ts';
import { PostedRequest } from '../wire/http/posted-request.ts';
import type { ClientChannel, Connection } from '../wire/serving.ts';
import { batchProblem, readPosted, refuse, refuseBusy, refuseMethod } from './inbound.ts';
import type { EndpointDeps, Inbound, Posted } from './inbound.ts';
import { inSession } from './sessions/in-session.ts';
import { introducing } from './sessions/introducing.ts';
import { serveStream } from './sessions/serve-stream.ts';
import { tellSession } from './sessions/tell-session.ts';
import type { Session } from './sessions/session.ts';

type Request = Extract<Message, { kind: 'request' }>;
type Notification = Extract<Message, { kind: 'notification' }>;

const METHODS = 'POST, GET, DELETE';
/** A modern client hears of changes on the stream of its `subscriptions/listen` only. */
const NO_CHANNEL: ClientChannel = { notify: () => {} };

/** Streamable HTTP: both eras on one path. */
export class McpEndpoint {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  handle(inbound: Inbound): void {
    switch (inbound.request.method) {
      case 'POST':
        return this.#post(inbound);
      case 'GET':
        return this.#listen(inbound);
      case 'DELETE':
        return this.#delete(inbound);
      default:
        return refuseMethod(inbound, METHODS);
    }
  }

  #post(inbound: Inbound): void {
    const accepts = readAccept(inbound.request.headers.accept);
    if (!accepts.json && !accepts.events) {
      return refuse(inbound, 406, 'Accept must allow application/json or text/event-stream.');
    }
    readPosted(inbound, this.#deps, (message) => {
      if (isModern(inbound, message)) this.#modern(inbound, accepts, message);
      else if (message.kind === 'request' && message.method === 'initialize') {
        this.#initialize(inbound, accepts, message);
      } else this.#legacy(inbound, accepts, message);
    });
  }

  // The modern era: every POST stands alone.

  #modern(inbound: Inbound, accepts: Accepts, message: Posted): void {
    const { headers } = inbound.request;
    switch (message.kind) {
      case 'request': {
        const problem = modernRequestProblem(message, headers);
        if (problem !== undefined) return refuseModern(inbound, problem, message.id);
        return this.#modernRequest(inbound, accepts, message);
      }
      case 'notification': {
        const problem = modernNotificationProblem(message, headers);
        if (problem !== undefined) return refuseModern(inbound, problem, null);
        return this.#modernNotification(inbound, message);
      }
      default:
        return refuse(inbound, 400, 'The body must be one request or one notification.');
    }
  }

  #modernRequest(inbound: Inbound, accepts: Accepts, message: Request): void {
    const { log, open } = this.#deps;
    const failed = (error: unknown): void => {
      log.error('The side that answers a request failed.', { method: message.method, error: String(error) });
    };
    let connection: Connection | undefined;
    const exchange = this.#exchange(inbound, accepts, {
      closed: (closed) => {
        open.delete(closed);
        try {
          connection?.close();
        } catch (error) {
          failed(error);
        }
      },
    });
    const request = new PostedRequest(message, exchange, {
      headers: inbound.request.headers,
      statusOf: modernStatus,
      settled: () => {},
      failed,
    });
    exchange.carry(request);
    try {
      connection = this.#connect(inbound);
      connection.request(request);
    } catch (error) {
      failed(error);
      request.error({ code: RPC.internalError, message: 'The request failed inside the gateway.' });
    }
  }

  #modernNotification(inbound: Inbound, message: Notification): void {
    try {
      const connection = this.#connect(inbound);
      connection.notification(message.method, message.params);
      connection.close();
    } catch (error) {
      this.#deps.log.error('The side that takes a notification failed.', { error: String(error) });
    }
    sendEmpty(inbound.response, 202, inbound.headers);
  }

  #connect(inbound: Inbound): Connection {
    const { caller, path } = inbound;
    return this.#deps.connect({ caller, channel: NO_CHANNEL, transport: 'http', path });
  }

  // The older era: sessions.

  #initialize(inbound: Inbound, accepts: Accepts, message: Request): void {
    const { sessions, log } = this.#deps;
    const waiting = sessions.ready();
    if (waiting === undefined) return this.#open(inbound, accepts, message);
    waiting
      .then(() => this.#open(inbound, accepts, message))
      .catch((error: unknown) => {
        log.error('There is no key for the ids of sessions.', { error: String(error) });
        refuse(inbound, 500, 'The session could not be opened.', message.id);
      });
  }

  #open(inbound: Inbound, accepts: Accepts, message: Request): void {
    const { sessions, open, log } = this.#deps;
    let session: Session | undefined;
    try {
      session = sessions.open(inbound.caller, inbound.path);
    } catch (error) {
      log.error('A session could not be opened.', { error: String(error) });
      const body = { code: RPC.internalError, message: 'The session could not be opened.' };
      return sendRpcError(inbound.response, 200, { id: message.id, body, headers: inbound.headers });
    }
    if (session === undefined) return refuseBusy(inbound, message.id);
    const opened = session;
    const exchange = this.#exchange(inbound, accepts, {
      closed: (closed) => {
        open.delete(closed);
        if (opened.protocol !== undefined) return;
        // Nobody was told its id.
        sessions.end(opened, new GatewayError('CALL_CANCELLED', 'The session was not opened.'));
      },
    });
    const request = opened.begin(message, introducing(opened, sessions, exchange));
    exchange.carry(request);
    opened.run(request);
  }

  #legacy(inbound: Inbound, accepts: Accepts, message: Posted): void {
    inSession(inbound, this.#deps, 'id' in message ? message.id : null, (session) =>
      this.#take(inbound, accepts, { session, message }),
    );
  }

  #take(
    inbound: Inbound,
    accepts: Accepts,
    { session, message }: { readonly session: Session; readonly message: Posted },
  ): void {
    switch (message.kind) {
      case 'request': {
        const exchange = this.#exchange(inbound, accepts, { session });
        const request = session.begin(message, exchange);
        exchange.carry(request);
        return session.run(request);
      }
      case 'batch':
        return this.#batch(inbound, accepts, { session, messages: message.messages });
      default:
        return tellSession(inbound, this.#deps, session, message);
    }
  }

  #batch(
    inbound: Inbound,
    accepts: Accepts,
    batch: { readonly session: Session; readonly messages: readonly Message[] },
  ): void {
    const { session, messages } = batch;
    const problem = batchProblem(messages, session);
    if (problem !== undefined) return refuse(inbound, 400, problem);
    const expected = messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
    const exchange =
      expected === 0 ? undefined : this.#exchange(inbound, accepts, { expected, isBatch: true, session });
    if (exchange === undefined) sendEmpty(inbound.response, 202, inbound.headers);
    for (const message of messages) {
      if (message.kind === 'request') {
        if (exchange === undefined) continue;
        const request = session.begin(message, exchange);
        exchange.carry(request);
        session.run(request);
      } else if (message.kind === 'invalid') {
        exchange?.answer(errorText(message.id, { code: RPC.invalidRequest, message: message.problem }), 200);
      } else {
        const forwarded = this.#deps.sessions.line?.forward(session, message);
        if (forwarded === undefined) session.receive(message);
        else forwarded.catch(() => {}); // There is no way to say so within the answer to a batch.
      }
    }
  }

  #listen(inbound: Inbound): void {
    if (namesModern(inbound)) return refuseMethod(inbound, 'POST');
    if (!readAccept(inbound.request.headers.accept).events) {
      return refuse(inbound, 406, 'Accept must allow text/event-stream.');
    }
    inSession(inbound, this.#deps, null, (session) => serveStream(inbound, session, this.#deps));
  }

  #delete(inbound: Inbound): void {
    if (namesModern(inbound)) return refuseMethod(inbound, 'POST');
    inSession(inbound, this.#deps, null, (session) => {
      const reason = new GatewayError('CALL_CANCELLED', 'The client ended the session.');
      void this.#deps.sessions
        .finish(session, reason)
        .then(() => sendEmpty(inbound.response, 204, inbound.headers));
    });
  }

  #exchange(
    inbound: Inbound,
    accepts: Accepts,
    more: {
      readonly expected?: number;
      readonly isBatch?: boolean;
      readonly closed?: (closed: PostExchange) => void;
      /** Of the older protocol, in which a broken stream can be resumed. */
      readonly session?: Session;
    } = {},
  ): PostExchange {
    const { open, limits } = this.#deps;
    const { response, headers } = inbound;
    const {
      expected = 1,
      isBatch = false,
      closed = (gone: PostExchange) => open.delete(gone),
      session,
    } = more;
    const resumable = session?.resumable;
    const knowsEmptyEvents = session?.protocol === NEWEST_LEGACY;
    const exchange = new PostExchange({
      response,
      headers,
      accepts,
      limits,
      expected,
      isBatch,
      closed,
      resumable,
      knowsEmptyEvents,
    });
    open.add(exchange);
    return exchange;
  }
}

function isModern(inbound: Inbound, message: Posted): boolean {
  if (namesModern(inbound)) return true;
  if (message.kind !== 'request' && message.kind !== 'notification') return false;
  return eraOf(message.method, message.params) === 'modern';
}

function namesModern(inbound: Inbound): boolean {
  return inbound.request.headers['mcp-protocol-version'] === MODERN_VERSION;
}

function refuseModern(inbound: Inbound, body: RpcErrorBody, id: RequestId | null): void {
  sendRpcError(inbound.response, 400, { id, body, headers: inbound.headers });
}
