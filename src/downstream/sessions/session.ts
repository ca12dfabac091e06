import { Crowd } from '../../lib/crowd.ts';
import type { Payload } from '../../lib/payload.ts';
import { randomPiece } from '../../lib/random-piece.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Logger } from '../../observe/log.ts';
import { RPC } from '../../wire/era.ts';
import { notificationText } from '../../wire/message.ts';
import type { Message } from '../../wire/message.ts';
import { PostedRequest } from '../../wire/http/posted-request.ts';
import type { ReplyPath, RequestOwner } from '../../wire/http/posted-request.ts';
import type { ClientChannel } from '../../wire/serving.ts';
import { ResumableStreams, STANDALONE } from '../../wire/http/resumable-streams.ts';
import type { EventStream } from '../../wire/http/sse-server.ts';
import { Duplicates } from './between/duplicates.ts';
import type { SessionConnection } from './kept-session.ts';
import { introducedAs } from './session-facts.ts';
import type { SessionFacts } from './session-facts.ts';
import type { SessionLine } from './between/session-line.ts';
import type { SessionState } from './session-state.ts';

const LIST_CHANGED = /^notifications\/[a-z]+\/list_changed$/;
/** Whoever serves a session hears of these by itself. */
const HEARD_BY_ALL = /^notifications\/(?:[a-z]+\/list_changed|resources\/updated)$/;
const MAX_STREAMS = 4;
/** One client of the older protocol as it is served here, from `initialize`, or from when its id is first shown. */
export class Session implements ClientChannel, RequestOwner {
  /** The same wherever it is served; clients know it by a sealed id. */
  readonly id: string;
  /** Where it was opened; elsewhere other servers answer. */
  readonly path: string;
  /** The ids by which clients have shown it. */
  readonly shownAs: string[] = [];
  /** Who opened it; others have nothing to do with it. */
  readonly caller: Caller;
  readonly #connection: SessionConnection;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #requests = new Crowd<PostedRequest>();
  readonly #streams: EventStream[] = [];
  readonly #missed = new Map<string, string>();
  readonly #line: SessionLine | undefined;
  readonly #duplicates: Duplicates | undefined;
  #holder: string | undefined;
  readonly resumable: ResumableStreams;
  /** Streams on which the answer to an earlier request goes on. */
  readonly #resumed = new Map<EventStream, number>();
  #hadStream = false;
  /** Whether all that changed was told here, or is kept here to be told. */
  #isUpToDate: boolean;
  #facts: SessionFacts | undefined;
  #usedAt: number;

  constructor(
    connect: (session: Session) => SessionConnection,
    options: {
      /** Of one that was opened elsewhere, or before a restart. */
      readonly facts?: SessionFacts | undefined;
      readonly path: string;
      readonly caller: Caller;
      /** To the other gateways that may serve it. */
      readonly line?: SessionLine | undefined;
      readonly resumeMs: number;
      readonly now: () => number;
      readonly log: Logger;
    },
  ) {
    this.#facts = options.facts;
    this.#isUpToDate = options.facts === undefined;
    this.id = options.facts?.id ?? randomPiece(16).toString('base64url');
    this.#line = options.line;
    this.#duplicates = options.line && new Duplicates(options.now);
    this.resumable = new ResumableStreams({ waitMs: options.resumeMs, by: options.line?.others.self });
    this.path = options.path;
    this.caller = options.caller;
    this.#now = options.now;
    this.#log = options.log;
    this.#usedAt = options.now();
    this.#connection = connect(this);
  }

  /** Undefined until `initialize` has succeeded. */
  get facts(): SessionFacts | undefined {
    return this.#facts;
  }

  /** The version that `initialize` agreed on. */
  get protocol(): string | undefined {
    return this.#facts?.protocol;
  }

  /** What the client has set, also elsewhere; resolves when it is in force. */
  async adopt(state: SessionState): Promise<void> {
    try {
      await this.#connection.adopt?.(state);
    } catch (error) {
      this.failed(error);
    }
  }

  get isBusy(): boolean {
    return this.#requests.size > 0 || this.#streams.length > 0;
  }

  /** The other gateway that holds the newest stream, where one does. */
  get holder(): string | undefined {
    return this.#holder;
  }

  get hasStream(): boolean {
    return this.#streams.some(({ isOpen }) => isOpen);
  }

  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  isWorkingOn(requestId: unknown): boolean {
    return [...this.#requests].some(({ id }) => id === requestId);
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

  notify(method: string, params: JsonObject | undefined): void {
    const text = notificationText(method, params);
    const line = this.#line;
    if (line === undefined || this.#holder === undefined)
      return this.deliver(method, text, line?.others.self ?? '');
    // Of what every gateway hears by itself the one with the stream tells.
    if (!HEARD_BY_ALL.test(method)) line.pass(this, { method, text });
  }

  /** Each message goes to one stream only: the newest, since older ones may be dead without our knowing. */
  deliver(method: string, text: string, from: string): void {
    if (!HEARD_BY_ALL.test(method) && this.#duplicates?.isKnown(text, from) === true) return;
    const stream = this.#streams.findLast((candidate) => candidate.isOpen);
    // Whoever had a stream may come back for what it missed; whoever never had one wants only the latest.
    const id = this.#hadStream ? this.resumable.record(STANDALONE, text) : undefined;
    if (stream !== undefined) stream.send(text, 'message', id);
    else if (LIST_CHANGED.test(method)) this.#missed.set(method, text);
  }

  /** Another gateway holds the newest stream, or none does any more; then an older one here is the newest. */
  movedTo(holder: string | undefined): void {
    const isBack = this.#holder !== undefined && holder === undefined;
    this.#holder = holder;
    if (holder !== undefined) this.#isUpToDate = false;
    if (isBack && this.hasStream) void this.#line?.opened(this);
  }

  /** What nobody could be told is told elsewhere. */
  takeMissed(): readonly string[] {
    const missed = [...this.#missed.values()];
    this.#missed.clear();
    return missed;
  }

  /** Goes on where a stream of this session broke; false when nothing more will come on it. */
  resume(lastEvent: string, stream: EventStream): boolean {
    const resumed = this.resumable.resume(lastEvent, stream);
    if (resumed === undefined || resumed.stream === STANDALONE) {
      // What was missed has just been sent with everything else.
      if (resumed !== undefined) this.#missed.clear();
      void this.attach(stream);
      return true;
    }
    if (resumed.isComplete) return false;
    // It goes on here and nowhere else, so that the end of an older connection means nothing.
    for (const [other, number] of this.#resumed) if (number === resumed.stream) this.#resumed.delete(other);
    this.#resumed.set(stream, resumed.stream);
    return true;
  }

  /** Resolves when other gateways know that it is here, as far as they can be told. */
  attach(stream: EventStream): Promise<void> {
    this.#hadStream = true;
    if (this.#streams.length >= MAX_STREAMS) this.#streams.shift()?.end();
    this.#streams.push(stream);
    for (const text of this.takeMissed()) stream.send(text);
    return this.#isHere(stream).catch((error: unknown) => this.failed(error));
  }

  async #isHere(stream: EventStream): Promise<void> {
    const wasUpToDate = this.#isUpToDate;
    this.#isUpToDate = true;
    this.#holder = undefined;
    const { missed, isKnown } = (await this.#line?.opened(this)) ?? { missed: [], isKnown: false };
    for (const text of missed) stream.send(text);
    // Nobody can say what changed since the client last listed.
    if (!wasUpToDate && !isKnown) this.#connection.returned?.();
  }

  detach(stream: EventStream): void {
    const resumed = this.#resumed.get(stream);
    this.#resumed.delete(stream);
    if (resumed !== undefined) this.resumable.broke(resumed);
    const at = this.#streams.indexOf(stream);
    if (at >= 0) this.#streams.splice(at, 1);
    this.#usedAt = this.#now();
    if (at >= 0 && !this.hasStream && this.#holder === undefined) this.#line?.closed(this);
  }

  end(reason: GatewayError): void {
    for (const request of this.#requests) request.end(reason);
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
      const protocol = typeof version === 'string' ? version : '';
      this.#facts ??= { id: this.id, protocol, issuedAt: this.#now(), ...introducedAs(request.params) };
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
