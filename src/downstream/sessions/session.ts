import { SwapRemoveSet } from '../../core/lib/swap-remove-set.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { pooledRandomBytes } from '../../core/lib/pooled-random-bytes.ts';
import { callerIdentity } from '../../core/caller.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import { serializeNotification } from '../../protocol/rpc-message.ts';
import type { RpcMessage } from '../../protocol/rpc-message.ts';
import { PostedRequest } from '../../protocol/http/posted-request.ts';
import type { ResponseWriter, PostedRequestOwner } from '../../protocol/http/posted-request.ts';
import type { ClientChannel } from '../../protocol/client-connection.ts';
import { ResumableStreams, STANDALONE_STREAM } from '../../protocol/http/resumable-streams.ts';
import type { SseResponse } from '../../protocol/http/sse-response.ts';
import { DuplicateFilter } from './replicas/duplicate-filter.ts';
import type { OneWayMessage, SessionRelay } from './replicas/session-relay.ts';
import type { SessionConnection } from './session-store.ts';
import { readClientFacts } from './session-facts.ts';
import type { SessionFacts } from './session-facts.ts';
import type { ClientSettings } from './client-settings.ts';

interface SessionOptions {
  /** Present if the session was opened at another replica or before a restart. */
  readonly facts?: SessionFacts | undefined;
  readonly path: string;
  readonly caller: Caller;
  /** Absent if no other replica can serve the session. */
  readonly relay?: SessionRelay | undefined;
  /** Maximum time that a request waits for the client to resume its broken stream. */
  readonly resumeMs: number;
  readonly now: () => number;
  readonly log: Logger;
}

const LIST_CHANGED = /^notifications\/[a-z]+\/list_changed$/;
/** Notifications about changes that every replica of a session notices itself, so they are not relayed. */
const NOTICED_BY_ALL = /^notifications\/(?:[a-z]+\/list_changed|resources\/updated)$/;
/** The maximum number of open notification streams per session; a further one replaces the oldest. */
const MAX_STREAMS = 4;

/** The session of a legacy client over HTTP, as this replica serves it. */
export class Session implements ClientChannel, PostedRequestOwner {
  /** The internal id, which is the same at every replica. Clients send a sealed id that contains it. */
  readonly id: string;
  /** The path at which the session was opened; it determines which servers answer. */
  readonly path: string;
  /** The sealed ids of this session that are known here. */
  readonly publicIds: string[] = [];
  readonly caller: Caller;
  readonly resumable: ResumableStreams;
  readonly #connection: SessionConnection;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #requests = new SwapRemoveSet<PostedRequest>();
  readonly #streams: SseResponse[] = [];
  /** The latest undelivered list change of each kind, by method. */
  readonly #undelivered = new Map<string, string>();
  readonly #relay: SessionRelay | undefined;
  readonly #duplicates: DuplicateFilter | undefined;
  /** The other replica that holds the newest stream, if one does. */
  #streamReplica: string | undefined;
  /** Streams on which the response to an earlier request continues, with the number of the resumable stream. */
  readonly #resumed = new Map<SseResponse, number>();
  /** Whether the client has ever opened a notification stream here. */
  #hadStream = false;
  /** Whether this replica delivered or kept every change. False after a restore or after the stream moved, until a stream opens here. */
  #isUpToDate: boolean;
  #facts: SessionFacts | undefined;
  #usedAt: number;

  constructor(connect: (session: Session) => SessionConnection, options: SessionOptions) {
    const { facts, relay, resumeMs, now } = options;
    this.#facts = facts;
    // A restored session may have missed changes before this replica served it.
    this.#isUpToDate = facts === undefined;
    this.id = facts?.id ?? pooledRandomBytes(16).toString('base64url');
    this.#relay = relay;
    this.#duplicates = relay && new DuplicateFilter(now);
    this.resumable = new ResumableStreams({ waitMs: resumeMs, replica: relay?.replicas.self });
    this.path = options.path;
    this.caller = options.caller;
    this.#now = now;
    this.#log = options.log;
    this.#usedAt = now();
    this.#connection = connect(this);
  }

  /** Undefined until `initialize` has succeeded. */
  get facts(): SessionFacts | undefined {
    return this.#facts;
  }

  /** The protocol version that `initialize` agreed on. */
  get protocol(): string | undefined {
    return this.#facts?.protocol;
  }

  /** Identifies the session and its caller in messages between replicas. */
  get reference(): JsonObject {
    return { session: this.id, caller: callerIdentity(this.caller) };
  }

  get isBusy(): boolean {
    return this.#requests.size > 0 || this.#streams.length > 0;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** The other replica that holds the newest stream, if one does. */
  get streamReplica(): string | undefined {
    return this.#streamReplica;
  }

  get hasStream(): boolean {
    return this.#streams.some(({ isOpen }) => isOpen);
  }

  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  isWorkingOn(requestId: unknown): boolean {
    return this.#requests.find(({ id }) => id === requestId) !== undefined;
  }

  /** Applies the settings that the client made here or at another replica; resolves when they are in effect. */
  async adopt(settings: ClientSettings): Promise<void> {
    try {
      await this.#connection.adopt?.(settings);
    } catch (error) {
      this.onError(error);
    }
  }

  /** Registers a request as running; `run` then passes it to the connection. */
  begin(message: Extract<RpcMessage, { kind: 'request' }>, writer: ResponseWriter): PostedRequest {
    const request = new PostedRequest(message, writer, this);
    this.#requests.add(request);
    return request;
  }

  run(request: PostedRequest): void {
    try {
      this.#connection.handleRequest(request);
    } catch (error) {
      this.onError(error);
      request.sendError({
        code: RPC_ERROR_CODES.internalError,
        message: 'The request failed inside the gateway.',
      });
    }
  }

  receive(message: OneWayMessage): void {
    this.#usedAt = this.#now();
    try {
      if (message.kind !== 'notification') this.#connection.handleResponse?.(message);
      else if (message.method === 'notifications/cancelled') this.#cancelRequest(message.params);
      else this.#connection.handleNotification(message.method, message.params);
    } catch (error) {
      this.onError(error);
    }
  }

  notify(method: string, params: JsonObject | undefined): void {
    const text = serializeNotification(method, params);
    const relay = this.#relay;
    if (relay === undefined || this.#streamReplica === undefined)
      return this.deliver(method, text, relay?.replicas.self ?? '');
    // The replica that holds the stream notices list and resource changes itself, so only other notifications are relayed.
    if (!NOTICED_BY_ALL.test(method)) relay.send(this, { method, text });
  }

  /** Sends a notification to the newest stream only, since the connections of older streams may be dead. */
  deliver(method: string, text: string, replica: string): void {
    if (!NOTICED_BY_ALL.test(method) && this.#duplicates?.isDuplicate(text, replica) === true) return;
    const stream = this.#streams.findLast((candidate) => candidate.isOpen);
    // A client that had a stream may resume it, so the event is recorded. Without a stream, only the latest list changes are kept.
    const id = this.#hadStream ? this.resumable.record(STANDALONE_STREAM, text) : undefined;
    if (stream !== undefined) stream.send(text, 'message', id);
    else if (LIST_CHANGED.test(method)) this.#undelivered.set(method, text);
  }

  /** Records which other replica holds the newest stream. If none does any more, an open stream of this replica becomes the newest. */
  moveStream(replica: string | undefined): void {
    const hasReturned = this.#streamReplica !== undefined && replica === undefined;
    this.#streamReplica = replica;
    if (replica !== undefined) this.#isUpToDate = false;
    if (hasReturned && this.hasStream) void this.#relay?.streamOpened(this);
  }

  /** Returns the undelivered notifications, for the replica that now holds the stream. */
  takeUndelivered(): readonly string[] {
    const undelivered = [...this.#undelivered.values()];
    this.#undelivered.clear();
    return undelivered;
  }

  /** Continues a broken stream of this session; returns false if nothing more will come on it. */
  resume(lastEvent: string, stream: SseResponse): boolean {
    const resumed = this.resumable.resume(lastEvent, stream);
    if (resumed === undefined || resumed.stream === STANDALONE_STREAM) {
      // The missed events, which `resume` has just sent, include the undelivered notifications.
      if (resumed !== undefined) this.#undelivered.clear();
      void this.attach(stream);
      return true;
    }
    if (resumed.isComplete) return false;
    // The response continues on this connection only, so the end of an older connection must not mark the response as broken.
    for (const [other, number] of this.#resumed) if (number === resumed.stream) this.#resumed.delete(other);
    this.#resumed.set(stream, resumed.stream);
    return true;
  }

  /** Adds a stream for notifications; resolves when the other replicas that can be reached know about it. */
  attach(stream: SseResponse): Promise<void> {
    this.#hadStream = true;
    if (this.#streams.length >= MAX_STREAMS) this.#streams.shift()?.end();
    this.#streams.push(stream);
    for (const text of this.takeUndelivered()) stream.send(text);
    return this.#announceStream(stream).catch((error: unknown) => this.onError(error));
  }

  async #announceStream(stream: SseResponse): Promise<void> {
    const wasUpToDate = this.#isUpToDate;
    this.#isUpToDate = true;
    this.#streamReplica = undefined;
    const answer = await this.#relay?.streamOpened(this);
    for (const text of answer?.undelivered ?? []) stream.send(text);
    // If neither this nor another replica was up to date, changes may have been missed, so all lists are announced as changed.
    if (!wasUpToDate && answer?.isComplete !== true) this.#connection.onClientReturned?.();
  }

  detach(stream: SseResponse): void {
    const resumed = this.#resumed.get(stream);
    this.#resumed.delete(stream);
    if (resumed !== undefined) this.resumable.markBroken(resumed);
    const index = this.#streams.indexOf(stream);
    if (index >= 0) this.#streams.splice(index, 1);
    this.#usedAt = this.#now();
    if (index >= 0 && !this.hasStream && this.#streamReplica === undefined) this.#relay?.streamClosed(this);
  }

  end(reason: GatewayError): void {
    for (const request of this.#requests) request.end(reason);
    for (const stream of [...this.#streams, ...this.#resumed.keys()]) stream.end();
    this.resumable.close();
    try {
      this.#connection.close();
    } catch (error) {
      this.onError(error);
    }
  }

  statusFor(): number {
    return 200;
  }

  onSettled(request: PostedRequest, result: Payload | undefined): void {
    this.#requests.delete(request);
    this.#usedAt = this.#now();
    if (request.method === 'initialize' && result !== undefined) {
      const version = isJsonObject(result.peek) ? result.peek['protocolVersion'] : undefined;
      const protocol = typeof version === 'string' ? version : '';
      const { info, capabilities } = readClientFacts(request.params);
      // From here on the session is open: the response carries its sealed id.
      this.#facts ??= { id: this.id, protocol, issuedAt: this.#now(), info, capabilities };
    }
  }

  onError(error: unknown): void {
    this.#log.error('A session failed unexpectedly.', { error: String(error) });
  }

  #cancelRequest(params: JsonObject | undefined): void {
    const id = params?.['requestId'];
    this.#requests
      .find((request) => request.id === id && request.method !== 'initialize')
      ?.cancelByClient(new GatewayError('CALL_CANCELLED', 'The client cancelled the request.'));
  }
}
