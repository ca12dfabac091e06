import { callerIdentity, isSameCaller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { readReplicaFromId } from '../../core/replica-bus.ts';
import type { ReplicaBus } from '../../core/replica-bus.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import { readAccept, sendEmpty, onResponseClosed } from '../../protocol/http/http-io.ts';
import { serializeError, parseMessage, flattenMessage } from '../../protocol/rpc-message.ts';
import type { RpcMessage, ParsedMessage } from '../../protocol/rpc-message.ts';
import type { ResponseWriter } from '../../protocol/http/posted-request.ts';
import { SseResponse } from '../../protocol/http/sse-response.ts';
import {
  findBatchProblem,
  readMessage,
  sendRefusal,
  sendBusy,
  sendMethodNotAllowed,
} from './http-exchange.ts';
import type { EndpointDeps, AuthenticatedExchange } from './http-exchange.ts';
import type { Session } from '../sessions/session.ts';

interface SseSession {
  readonly session: Session;
  readonly writer: ResponseWriter;
}

/** The legacy transport HTTP+SSE of version 2024-11-05: one stream carries all messages to the client, which sends its own by POST. */
export class SseEndpoint {
  readonly #deps: EndpointDeps;
  readonly #messagesPath: string;
  readonly #sessions = new Map<string, SseSession>();
  readonly #replicas: ReplicaBus | undefined;

  constructor(deps: EndpointDeps, messagesPath: string) {
    this.#deps = deps;
    this.#messagesPath = messagesPath;
    this.#replicas = deps.sessions.relay?.replicas;
    this.#replicas?.onRequest('sse.message', async ({ session: id, caller, text }) => {
      const found = typeof id === 'string' ? this.#sessions.get(id) : undefined;
      const message = typeof text === 'string' ? parseMessage(text) : undefined;
      const isOwn = found !== undefined && callerIdentity(found.session.caller) === caller;
      if (!isOwn || message === undefined || message.kind === 'garbage') return {};
      const problem = messageProblem(message, found);
      if (problem === undefined) receiveAll(message, found);
      return { isTaken: true, problem };
    });
  }

  /** Handles GET: opens the stream; the session ends with it. */
  openStream(exchange: AuthenticatedExchange): void {
    if (exchange.request.method !== 'GET') return sendMethodNotAllowed(exchange, 'GET');
    const { request, response, headers, caller, path } = exchange;
    if (!readAccept(request.headers.accept).events) {
      return sendRefusal(exchange, 406, 'Accept must allow text/event-stream.');
    }
    const { sessions, open, limits, log } = this.#deps;
    let session: Session | undefined;
    try {
      session = sessions.openStream(caller, path);
    } catch (error) {
      log.error('A session could not be opened.', { error: String(error) });
      return sendRefusal(exchange, 500, 'The session could not be opened.');
    }
    if (session === undefined) return sendBusy(exchange);
    const opened = session;
    const stream = new SseResponse(response, limits);
    onResponseClosed(response, () => {
      open.delete(stream);
      this.#sessions.delete(opened.id);
      opened.detach(stream);
      sessions.stopServing(opened, new GatewayError('CALL_CANCELLED', 'The client closed the stream.'));
    });
    open.add(stream);
    this.#sessions.set(opened.id, { session: opened, writer: streamWriter(stream) });
    stream.start(headers);
    const replica = this.#replicas === undefined ? '' : `${this.#replicas.self}.`;
    stream.send(`${this.#messagesPath}?sessionId=${replica}${opened.id}`, 'endpoint');
    void opened.attach(stream);
  }

  /** Handles POST: receives a message, whose response goes to the stream. */
  receive(exchange: AuthenticatedExchange, query: string): void {
    if (exchange.request.method !== 'POST') return sendMethodNotAllowed(exchange, 'POST');
    const sessionId = new URLSearchParams(query).get('sessionId');
    if (sessionId === null) return sendRefusal(exchange, 400, 'sessionId is missing; open /sse first.');
    const replica = this.#replicas && readReplicaFromId(sessionId);
    const id = replica === undefined ? sessionId : sessionId.slice(replica.length + 1);
    if (replica !== undefined && replica !== this.#replicas?.self)
      return readMessage(exchange, this.#deps, (_message, text) =>
        this.#forward(exchange, { replica, id, text }),
      );
    const known = this.#sessions.get(id);
    if (known === undefined || !isSameCaller(known.session.caller, exchange.caller))
      return sendUnknownSession(exchange);
    readMessage(exchange, this.#deps, (message) => {
      // The stream may have ended while the body was received.
      const found = this.#sessions.get(id);
      if (found === undefined) return sendUnknownSession(exchange);
      const problem = messageProblem(message, found);
      if (problem !== undefined) return sendRefusal(exchange, 400, problem);
      sendEmpty(exchange.response, 202, exchange.headers);
      receiveAll(message, found);
    });
  }

  /** Sends a message to the replica that holds the stream. */
  #forward(
    exchange: AuthenticatedExchange,
    { replica, id, text }: { readonly replica: string; readonly id: string; readonly text: string },
  ): void {
    const body = { session: id, caller: callerIdentity(exchange.caller), text };
    this.#replicas?.request(replica, 'sse.message', body).then(
      ({ isTaken, problem }) => {
        if (isTaken !== true) sendUnknownSession(exchange);
        else if (typeof problem === 'string') sendRefusal(exchange, 400, problem);
        else sendEmpty(exchange.response, 202, exchange.headers);
      },
      () => sendUnknownSession(exchange), // The stream ended with its replica.
    );
  }
}

function sendUnknownSession(exchange: AuthenticatedExchange): void {
  sendRefusal(exchange, 404, 'This session does not exist; open /sse first.');
}

function messageProblem(message: ParsedMessage, { session }: SseSession): string | undefined {
  return message.kind === 'batch' ? findBatchProblem(message.messages, session) : undefined;
}

function receiveAll(message: Exclude<ParsedMessage, { kind: 'garbage' }>, session: SseSession): void {
  for (const single of message.kind === 'batch' ? message.messages : [message]) receive(session, single);
}

function receive({ session, writer }: SseSession, message: RpcMessage): void {
  if (message.kind === 'request') session.run(session.begin(message, writer));
  else if (message.kind === 'invalid') {
    writer.respond(
      serializeError(message.id, { code: RPC_ERROR_CODES.invalidRequest, message: message.problem }),
      200,
    );
  } else session.receive(message);
}

function streamWriter(stream: SseResponse): ResponseWriter {
  return {
    canNotify: true,
    sendMessage: (text) => stream.send(text),
    respond: (message) => stream.send(flattenMessage(message)),
    endCancelled: () => {},
  };
}
