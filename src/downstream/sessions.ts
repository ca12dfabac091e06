import { randomUUID } from 'node:crypto';

import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Logger } from '../observe/log.ts';
import { RPC } from '../wire/era.ts';
import { notificationText } from '../wire/message.ts';
import type { Message } from '../wire/message.ts';
import { PostedRequest } from '../wire/posted-request.ts';
import type { ReplyPath, RequestOwner } from '../wire/posted-request.ts';
import type { ClientChannel, Connection } from '../wire/serving.ts';
import { ResumableStreams, STANDALONE } from '../wire/resumable-streams.ts';
import type { EventStream } from '../wire/sse-server.ts';

/** Makes the side that answers: one per session of the older protocol, one per POST of the modern one. */
export type Connect = (options: {
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly transport: 'http';
  readonly path: string;
}) => Connection;

const LIST_CHANGED = /^notifications\/[a-z]+\/list_changed$/;
const MAX_STREAMS = 4;
/** One caller has at most one of these parts of all sessions. */
const SHARES = 4;

/** One client of the older protocol, from `initialize` to its end. */
export class Session implements ClientChannel, RequestOwner {
  readonly id = randomUUID();
  /** Where it was opened; elsewhere other servers answer. */
  readonly path: string;
  /** Who opened it; others have nothing to do with it. */
  readonly caller: Caller;
  readonly #connection: Connection;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #requests = new Set<PostedRequest>();
  readonly #streams: EventStream[] = [];
  readonly #missed = new Map<string, string>();
  readonly resumable: ResumableStreams;
  /** Streams on which the answer to an earlier request goes on. */
  readonly #resumed = new Map<EventStream, number>();
  #hadStream = false;
  #protocol: string | undefined;
  #usedAt: number;

  constructor(
    connect: (channel: ClientChannel) => Connection,
    options: {
      readonly path: string;
      readonly caller: Caller;
      readonly resumeMs: number;
      readonly now: () => number;
      readonly log: Logger;
    },
  ) {
    this.resumable = new ResumableStreams({ waitMs: options.resumeMs });
    this.path = options.path;
    this.caller = options.caller;
    this.#now = options.now;
    this.#log = options.log;
    this.#usedAt = options.now();
    this.#connection = connect(this);
  }

  /** The version that `initialize` agreed on; undefined until it has succeeded. */
  get protocol(): string | undefined {
    return this.#protocol;
  }

  get isBusy(): boolean {
    return this.#requests.size > 0 || this.#streams.length > 0;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** The request counts as running; `run` hands it to the side that answers. */
  begin(message: Extract<Message, { kind: 'request' }>, path: ReplyPath): PostedRequest {
    const request = new PostedRequest(message, path, this);
    this.#requests.add(request);
    return request;
  }

  run(request: PostedRequest): void {
    try {
      this.#connection.request(request);
    } catch (error) {
      this.failed(error);
      request.error({ code: RPC.internalError, message: 'The request failed inside the gateway.' });
    }
  }

  /** A message that needs no answer. */
  receive(message: Extract<Message, { kind: 'notification' | 'result' | 'error' }>): void {
    this.#usedAt = this.#now();
    try {
      if (message.kind !== 'notification') this.#connection.response?.(message);
      else if (message.method === 'notifications/cancelled') this.#withdraw(message.params);
      else this.#connection.notification(message.method, message.params);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Each message goes to one stream only: the newest, since older ones may be dead without our knowing. */
  notify(method: string, params: JsonObject | undefined): void {
    const text = notificationText(method, params);
    const stream = this.#streams.findLast((candidate) => candidate.isOpen);
    // Whoever had a stream may come back for what it missed; whoever never had one wants only the latest.
    const id = this.#hadStream ? this.resumable.record(STANDALONE, text) : undefined;
    if (stream !== undefined) stream.send(text, 'message', id);
    else if (LIST_CHANGED.test(method)) this.#missed.set(method, text);
  }

  /** Goes on where a stream of this session broke; false when nothing more will come on it. */
  resume(lastEvent: string, stream: EventStream): boolean {
    const resumed = this.resumable.resume(lastEvent, stream);
    if (resumed === undefined || resumed.stream === STANDALONE) {
      // What was missed has just been sent with everything else.
      if (resumed !== undefined) this.#missed.clear();
      this.attach(stream);
      return true;
    }
    if (resumed.isComplete) return false;
    // It goes on here and nowhere else, so that the end of an older connection means nothing.
    for (const [other, number] of this.#resumed) if (number === resumed.stream) this.#resumed.delete(other);
    this.#resumed.set(stream, resumed.stream);
    return true;
  }

  attach(stream: EventStream): void {
    this.#hadStream = true;
    if (this.#streams.length >= MAX_STREAMS) this.#streams.shift()?.end();
    this.#streams.push(stream);
    for (const text of this.#missed.values()) stream.send(text);
    this.#missed.clear();
  }

  detach(stream: EventStream): void {
    const resumed = this.#resumed.get(stream);
    this.#resumed.delete(stream);
    if (resumed !== undefined) this.resumable.broke(resumed);
    const at = this.#streams.indexOf(stream);
    if (at >= 0) this.#streams.splice(at, 1);
    this.#usedAt = this.#now();
  }

  end(reason: GatewayError): void {
    for (const request of [...this.#requests]) request.end(reason);
    for (const stream of [...this.#streams, ...this.#resumed.keys()]) stream.end();
    this.resumable.close();
    try {
      this.#connection.close();
    } catch (error) {
      this.failed(error);
    }
  }

  statusOf(): number {
    return 200;
  }

  settled(request: PostedRequest, result: Payload | undefined): void {
    this.#requests.delete(request);
    this.#usedAt = this.#now();
    if (request.method === 'initialize' && result !== undefined) {
      const version = isJsonObject(result.peek) ? result.peek['protocolVersion'] : undefined;
      this.#protocol = typeof version === 'string' ? version : '';
    }
  }

  failed(error: unknown): void {
    this.#log.error('The side that answers a session failed.', { error: String(error) });
  }

  #withdraw(params: JsonObject | undefined): void {
    const id = params?.['requestId'];
    for (const request of this.#requests) {
      if (request.id !== id || request.method === 'initialize') continue;
      request.withdraw(new GatewayError('CALL_CANCELLED', 'The client cancelled the request.'));
      return;
    }
  }
}

interface SessionOptions {
  readonly connect: Connect;
  readonly maxSessions: number;
  /** Whether callers can be told apart; then none of them has more than its share. */
  readonly isShared?: () => boolean;
  readonly idleMs: number;
  /** How long a request waits for a client whose stream broke. */
  readonly resumeMs: number;
  readonly now: () => number;
  readonly log: Logger;
}

/** All sessions, bounded in number and in idleness. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  #options: SessionOptions;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Undefined when all places, or the caller's share of them, are taken by sessions in use. */
  open(caller: Caller, path: string): Session | undefined {
    const { connect, resumeMs, now, log } = this.#options;
    if (!this.#hasRoom(caller)) return undefined;
    const session = new Session((channel) => connect({ caller, channel, transport: 'http', path }), {
      path,
      caller,
      resumeMs,
      now,
      log,
    });
    this.#sessions.set(session.id, session);
    return session;
  }

  get(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    // It is swept only now and then, but over is over.
    if (session === undefined || !this.#isTooIdle(session)) return session;
    this.#endIdle(session);
    return undefined;
  }

  end(session: Session, reason: GatewayError): void {
    if (this.#sessions.delete(session.id)) session.end(reason);
  }

  /** Of a caller who may not come in any more. */
  endOf(caller: string, reason: GatewayError): void {
    for (const session of [...this.#sessions.values()])
      if (session.caller.id === caller) this.end(session, reason);
  }

  /** Sessions that are open already stay, however many they are. */
  adjust(limits: Pick<SessionOptions, 'maxSessions' | 'idleMs'>): void {
    this.#options = { ...this.#options, ...limits };
  }

  endAll(reason: GatewayError): void {
    for (const session of [...this.#sessions.values()]) this.end(session, reason);
  }

  sweep(): void {
    for (const session of [...this.#sessions.values()]) {
      if (this.#isTooIdle(session)) this.#endIdle(session);
    }
  }

  #isTooIdle(session: Session): boolean {
    const { idleMs, now } = this.#options;
    return !session.isBusy && session.usedAt <= now() - idleMs;
  }

  #endIdle(session: Session): void {
    this.#options.log.debug('A session was idle for too long and was ended.');
    this.end(session, new GatewayError('CALL_CANCELLED', 'The session was idle for too long.'));
  }

  /** Who has its share makes room itself, so that one caller cannot end or keep out the sessions of all others. */
  #hasRoom({ id }: Caller): boolean {
    const { maxSessions, isShared } = this.#options;
    const own = [...this.#sessions.values()].filter(({ caller }) => caller.id === id);
    if (isShared?.() === true && own.length >= Math.ceil(maxSessions / SHARES)) return this.#evict(own);
    return this.#sessions.size < maxSessions || this.#evict([...this.#sessions.values()]);
  }

  #evict(among: readonly Session[]): boolean {
    let idlest: Session | undefined;
    for (const session of among) {
      if (!session.isBusy && (idlest === undefined || session.usedAt < idlest.usedAt)) idlest = session;
    }
    if (idlest === undefined) return false;
    this.#options.log.info('The longest idle session was ended to make room for a new one.', {
      maxSessions: this.#options.maxSessions,
    });
    this.end(idlest, new GatewayError('CALL_CANCELLED', 'The session was ended to make room for a new one.'));
    return true;
  }
}
