import { isSameCaller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import { RPC } from '../wire/era.ts';
import { readAccept, sendEmpty, whenClosed } from '../wire/http-server.ts';
import { errorText, textOf } from '../wire/message.ts';
import type { Message } from '../wire/message.ts';
import type { ReplyPath } from '../wire/posted-request.ts';
import { EventStream } from '../wire/sse-server.ts';
import { batchProblem, readPosted, refuse, refuseBusy, refuseMethod } from './inbound.ts';
import type { EndpointDeps, Inbound, Posted } from './inbound.ts';
import type { Session } from './sessions.ts';

interface OldSession {
  readonly session: Session;
  readonly path: ReplyPath;
}

/** HTTP+SSE of 2024-11-05: one stream carries everything to the client, which sends by POST to an address of its own. */
export class SseEndpoint {
  readonly #deps: EndpointDeps;
  readonly #messagesPath: string;
  readonly #sessions = new Map<string, OldSession>();

  constructor(deps: EndpointDeps, messagesPath: string) {
    this.#deps = deps;
    this.#messagesPath = messagesPath;
  }

  /** GET: the stream is the session and ends it. */
  stream(inbound: Inbound): void {
    if (inbound.request.method !== 'GET') return refuseMethod(inbound, 'GET');
    const { request, response, headers, caller, path } = inbound;
    if (!readAccept(request.headers.accept).events) {
      return refuse(inbound, 406, 'Accept must allow text/event-stream.');
    }
    const { sessions, open, limits, log } = this.#deps;
    let session: Session | undefined;
    try {
      session = sessions.open(caller, path);
    } catch (error) {
      log.error('A session could not be opened.', { error: String(error) });
      return refuse(inbound, 500, 'The session could not be opened.');
    }
    if (session === undefined) return refuseBusy(inbound);
    const opened = session;
    const stream = new EventStream(response, limits);
    whenClosed(response, () => {
      open.delete(stream);
      this.#sessions.delete(opened.id);
      opened.detach(stream);
      sessions.end(opened, new GatewayError('CALL_CANCELLED', 'The client closed the stream.'));
    });
    open.add(stream);
    this.#sessions.set(opened.id, { session: opened, path: onStream(stream) });
    stream.start(headers);
    stream.send(`${this.#messagesPath}?sessionId=${opened.id}`, 'endpoint');
    opened.attach(stream);
  }

  /** POST: the answers go to the stream. */
  message(inbound: Inbound, query: string): void {
    if (inbound.request.method !== 'POST') return refuseMethod(inbound, 'POST');
    const id = new URLSearchParams(query).get('sessionId');
    if (id === null) return refuse(inbound, 400, 'The address lacks sessionId; open /sse first.');
    const opened = this.#sessions.get(id);
    if (opened === undefined || !isSameCaller(opened.session.caller, inbound.caller))
      return refuse(inbound, 404, 'There is no such session; open /sse first.');
    readPosted(inbound, this.#deps, (message) => {
      // The stream may have ended while the body came.
      const old = this.#sessions.get(id);
      if (old === undefined) return refuse(inbound, 404, 'There is no such session; open /sse first.');
      this.#take(inbound, old, message);
    });
  }

  #take(inbound: Inbound, old: OldSession, message: Posted): void {
    if (message.kind === 'batch') {
      const problem = batchProblem(message.messages, old.session);
      if (problem !== undefined) return refuse(inbound, 400, problem);
    }
    sendEmpty(inbound.response, 202, inbound.headers);
    for (const one of message.kind === 'batch' ? message.messages : [message]) receive(old, one);
  }
}

function receive({ session, path }: OldSession, message: Message): void {
  if (message.kind === 'request') session.run(session.begin(message, path));
  else if (message.kind === 'invalid') {
    path.answer(errorText(message.id, { code: RPC.invalidRequest, message: message.problem }), 200);
  } else session.receive(message);
}

function onStream(stream: EventStream): ReplyPath {
  return {
    canNotify: true,
    notify: (text) => stream.send(text),
    answer: (message) => stream.send(textOf(message)),
    withdraw: () => {},
  };
}
