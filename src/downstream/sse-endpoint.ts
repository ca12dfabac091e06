import { callerIdentity, isSameCaller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import { RPC } from '../wire/era.ts';
import { readAccept, sendEmpty, whenClosed } from '../wire/http/http-server.ts';
import { errorText, parseMessage, textOf } from '../wire/message.ts';
import type { Message, Parsed } from '../wire/message.ts';
import type { ReplyPath } from '../wire/http/posted-request.ts';
import { EventStream } from '../wire/http/sse-server.ts';
import { batchProblem, readPosted, refuse, refuseBusy, refuseMethod } from './inbound.ts';
import type { EndpointDeps, Inbound } from './inbound.ts';
import { namedIn } from './sessions/between/others.ts';
import type { Others } from './sessions/between/others.ts';
import type { Session } from './sessions/session.ts';

interface OldSession {
  readonly session: Session;
  readonly path: ReplyPath;
}

/** HTTP+SSE of 2024-11-05: one stream carries everything to the client, which sends by POST to an address of its own. */
export class SseEndpoint {
  readonly #deps: EndpointDeps;
  readonly #messagesPath: string;
  readonly #sessions = new Map<string, OldSession>();
  readonly #others: Others | undefined;

  constructor(deps: EndpointDeps, messagesPath: string) {
    this.#deps = deps;
    this.#messagesPath = messagesPath;
    this.#others = deps.sessions.line?.others;
    this.#others?.answer('sse.message', async ({ session, caller, text }) => {
      const old = typeof session === 'string' ? this.#sessions.get(session) : undefined;
      const message = typeof text === 'string' ? parseMessage(text) : undefined;
      const isOwn = old !== undefined && callerIdentity(old.session.caller) === caller;
      if (!isOwn || message === undefined || message.kind === 'garbage') return {};
      const problem = problemOf(message, old);
      if (problem === undefined) takeAll(message, old);
      return { isTaken: true, ...(problem !== undefined && { problem }) };
    });
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
      session = sessions.openStream(caller, path);
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
    const name = this.#others === undefined ? '' : `${this.#others.self}.`;
    stream.send(`${this.#messagesPath}?sessionId=${name}${opened.id}`, 'endpoint');
    void opened.attach(stream);
  }

  /** POST: the answers go to the stream. */
  message(inbound: Inbound, query: string): void {
    if (inbound.request.method !== 'POST') return refuseMethod(inbound, 'POST');
    const named = new URLSearchParams(query).get('sessionId');
    if (named === null) return refuse(inbound, 400, 'The address lacks sessionId; open /sse first.');
    const by = this.#others && namedIn(named);
    const id = by === undefined ? named : named.slice(by.length + 1);
    if (by !== undefined && by !== this.#others?.self)
      return readPosted(inbound, this.#deps, (_message, text) => this.#pass(inbound, { by, id, text }));
    const opened = this.#sessions.get(id);
    if (opened === undefined || !isSameCaller(opened.session.caller, inbound.caller))
      return refuseUnknown(inbound);
    readPosted(inbound, this.#deps, (message) => {
      // The stream may have ended while the body came.
      const old = this.#sessions.get(id);
      if (old === undefined) return refuseUnknown(inbound);
      const problem = problemOf(message, old);
      if (problem !== undefined) return refuse(inbound, 400, problem);
      sendEmpty(inbound.response, 202, inbound.headers);
      takeAll(message, old);
    });
  }

  /** The gateway that holds the stream is another one. */
  #pass(
    inbound: Inbound,
    { by, id, text }: { readonly by: string; readonly id: string; readonly text: string },
  ): void {
    const body = { session: id, caller: callerIdentity(inbound.caller), text };
    this.#others?.ask(by, 'sse.message', body).then(
      ({ isTaken, problem }) => {
        if (isTaken !== true) refuseUnknown(inbound);
        else if (typeof problem === 'string') refuse(inbound, 400, problem);
        else sendEmpty(inbound.response, 202, inbound.headers);
      },
      () => refuseUnknown(inbound), // It ended, and the stream with it.
    );
  }
}

function refuseUnknown(inbound: Inbound): void {
  refuse(inbound, 404, 'There is no such session; open /sse first.');
}

function problemOf(message: Parsed, { session }: OldSession): string | undefined {
  return message.kind === 'batch' ? batchProblem(message.messages, session) : undefined;
}

function takeAll(message: Exclude<Parsed, { kind: 'garbage' }>, old: OldSession): void {
  for (const one of message.kind === 'batch' ? message.messages : [message]) receive(old, one);
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
