import { callerIdentity } from '../../../core/caller.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import { readReplicaFromId } from '../../../core/replica-bus.ts';
import type { ReplicaBus } from '../../../core/replica-bus.ts';
import type { Logger } from '../../../observability/log.ts';
import {
  parseMessage,
  serializeError,
  serializeNotification,
  serializeResult,
} from '../../../protocol/rpc-message.ts';
import type { RpcMessage } from '../../../protocol/rpc-message.ts';
import type { Session } from '../session.ts';
import { RelayedStreams } from './relayed-streams.ts';

/** A message that has no response. */
export type OneWayMessage = Extract<RpcMessage, { kind: 'notification' | 'result' | 'error' }>;

export interface SessionRelayDeps {
  readonly replicas: ReplicaBus;
  readonly locations: StreamLocations;
  /** Returns the session with this id if this replica serves it. */
  readonly findSession: (id: string) => Session | undefined;
  /** Applies the stored settings of the session. */
  readonly reloadSettings: (session: Session) => Promise<void>;
  readonly log: Logger;
}

/** Records which replica holds the stream of a session, in a place that all replicas can read. */
export interface StreamLocations {
  find(session: string): Promise<string | undefined>;
  /** Records that this replica holds the stream. */
  record(session: string): Promise<void>;
  /** Records that this replica no longer holds the stream. */
  remove(session: string): Promise<void>;
}

/** Delivers the notifications of one session one after the other. */
interface DeliveryQueue {
  last: Promise<void>;
  length: number;
}

const TIMEOUT_MS = 5000;
/** The maximum number of notifications that wait per session; further ones are dropped. */
const MAX_QUEUED = 500;

/**
 * Relays messages between replicas that serve the same session: responses to the replica that sent the request, cancellations to the replica
 * that works on a request, and notifications to the replica that holds the client's stream.
 */
export class SessionRelay implements Disposable {
  readonly replicas: ReplicaBus;
  readonly streams: RelayedStreams;
  readonly #deps: SessionRelayDeps;
  readonly #handlers: readonly Disposable[];
  readonly #queues = new Map<string, DeliveryQueue>();

  constructor(deps: SessionRelayDeps) {
    this.#deps = deps;
    const { replicas } = deps;
    this.replicas = replicas;
    this.streams = new RelayedStreams(replicas, (body) => this.#findSession(body));
    this.#handlers = [
      this.streams,
      replicas.onRequest('session.message', (body) => this.#onMessage(body)),
      replicas.onRequest('session.deliver', (body, { from }) => this.#onDelivery(body, from)),
      replicas.onRequest('session.changed', async (body) => {
        const session = this.#findSession(body);
        if (session !== undefined) await deps.reloadSettings(session);
        return {};
      }),
      replicas.onRequest('session.stream', (body, { from }) => this.#onStream(body, from)),
    ];
  }

  /** Sends a message of a client to the replica that needs it; returns undefined if that is this replica. */
  forward(session: Session, message: OneWayMessage): Promise<void> | undefined {
    if (message.kind !== 'notification') {
      const replica = readReplicaFromId(message.id);
      if (replica === undefined || replica === this.replicas.self) return undefined;
      return this.#sendMessage(replica, session, message);
    }
    const isForOthers =
      message.method === 'notifications/cancelled' && !session.isWorkingOn(message.params?.['requestId']);
    if (!isForOthers) return undefined;
    // It is unknown which replica works on the request, so the cancellation goes to all of them.
    for (const replica of this.replicas.others())
      this.#sendMessage(replica, session, message).catch(() => {});
    return Promise.resolve();
  }

  /** Sends a notification to the client on the stream that another replica holds; notifications keep their order. */
  send(session: Session, notification: { readonly method: string; readonly text: string }): void {
    const { id } = session;
    const queue = this.#queues.get(id) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length >= MAX_QUEUED) return;
    queue.length++;
    this.#queues.set(id, queue);
    queue.last = queue.last
      .then(() => this.#deliver(session, notification))
      .catch((error: unknown) =>
        this.#deps.log.debug('A notification was not delivered.', { reason: String(error) }),
      )
      .finally(() => {
        if (--queue.length === 0) this.#queues.delete(id);
      });
  }

  /** Resolves when the replica that holds the stream has applied the changed settings. */
  async settingsChanged(session: Session): Promise<void> {
    const { streamReplica } = session;
    if (streamReplica === undefined) return;
    const options = { timeoutMs: TIMEOUT_MS };
    // A failure is ignored, because the replica also reads the change from the database.
    await this.replicas.request(streamReplica, 'session.changed', session.reference, options).catch(() => {});
  }

  /**
   * Announces that this replica holds the newest stream of the session. Resolves with the notifications that other replicas could not
   * deliver; `isComplete` means that one of them was up to date, so no further change was missed.
   */
  async streamOpened(
    session: Session,
  ): Promise<{ readonly undelivered: readonly string[]; readonly isComplete: boolean }> {
    const { locations } = this.#deps;
    const [answers] = await Promise.all([
      this.#announceStream(session, { isOpen: true }),
      locations.record(session.id).catch((error: unknown) => this.#logUnrecorded(error)),
    ]);
    const undelivered = answers.flatMap(({ missed }): unknown[] => (Array.isArray(missed) ? missed : []));
    return {
      undelivered: [...new Set(undelivered.filter((text): text is string => typeof text === 'string'))],
      isComplete: answers.some(({ isKnown }) => isKnown === true),
    };
  }

  /** Announces that this replica no longer holds a stream of the session. */
  streamClosed(session: Session): void {
    void this.#announceStream(session, { isOpen: false });
    this.#deps.locations.remove(session.id).catch((error: unknown) => this.#logUnrecorded(error));
  }

  /** Resolves with the other replica that holds the stream, if one does. */
  async findStream(session: string): Promise<string | undefined> {
    // A failed lookup is ignored: the stream's replica becomes known when the client opens the stream again.
    const replica = await this.#deps.locations.find(session).catch(() => undefined);
    return replica !== undefined && this.replicas.others().includes(replica) ? replica : undefined;
  }

  [Symbol.dispose](): void {
    for (const handler of this.#handlers) handler[Symbol.dispose]();
  }

  async #sendMessage(replica: string, session: Session, message: OneWayMessage): Promise<void> {
    const body = { ...session.reference, text: serialize(message) };
    const { isTaken } = await this.replicas.request(replica, 'session.message', body, {
      timeoutMs: TIMEOUT_MS,
    });
    if (isTaken !== true)
      throw new GatewayError('CALL_CANCELLED', 'The call that asked this question has ended.');
  }

  async #deliver(
    session: Session,
    notification: { readonly method: string; readonly text: string },
  ): Promise<void> {
    const body = { ...session.reference, ...notification };
    const isDeliveredBy = async (replica: string | undefined): Promise<boolean> => {
      if (replica === undefined || !this.replicas.others().includes(replica)) return false;
      const answer = await this.replicas
        .request(replica, 'session.deliver', body, { timeoutMs: TIMEOUT_MS })
        .catch((): JsonObject => ({}));
      return answer['isTaken'] === true;
    };
    const { streamReplica } = session;
    // If the known replica does not take the notification, the stream may have moved. If no other replica holds it, this one delivers.
    if (await isDeliveredBy(streamReplica)) return;
    const found = await this.findStream(session.id);
    const hasMoved = found !== streamReplica && (await isDeliveredBy(found));
    session.moveStream(hasMoved ? found : undefined);
    if (!hasMoved) session.deliver(notification.method, notification.text, this.replicas.self);
  }

  async #onMessage(body: JsonObject): Promise<JsonObject> {
    const session = this.#findSession(body);
    const message = typeof body['text'] === 'string' ? parseMessage(body['text']) : undefined;
    const isOneWay =
      message?.kind === 'notification' || message?.kind === 'result' || message?.kind === 'error';
    if (session === undefined || message === undefined || !isOneWay) return { isTaken: false };
    if (message.kind === 'notification' && !session.isWorkingOn(message.params?.['requestId']))
      return { isTaken: false };
    session.receive(message);
    return { isTaken: true };
  }

  async #onDelivery(body: JsonObject, from: string): Promise<JsonObject> {
    const { method, text } = body;
    const session = this.#findSession(body);
    if (session?.hasStream !== true || typeof method !== 'string' || typeof text !== 'string')
      return { isTaken: false };
    session.deliver(method, text, from);
    return { isTaken: true };
  }

  async #onStream(body: JsonObject, from: string): Promise<JsonObject> {
    const session = this.#findSession(body);
    if (session === undefined) return {};
    if (body['isOpen'] === true) {
      const { isUpToDate: isKnown } = session;
      session.moveStream(from);
      return { isKnown, missed: session.takeUndelivered() };
    }
    if (session.streamReplica === from) session.moveStream(undefined);
    return {};
  }

  /** Returns the session that a message of a replica refers to, if the message also names the session's caller. */
  #findSession({ session: id, caller }: JsonObject): Session | undefined {
    const session = typeof id === 'string' ? this.#deps.findSession(id) : undefined;
    return session !== undefined && callerIdentity(session.caller) === caller ? session : undefined;
  }

  async #announceStream(
    session: Session,
    state: { readonly isOpen: boolean },
  ): Promise<readonly JsonObject[]> {
    const body = { ...session.reference, ...state };
    const answers = this.replicas
      .others()
      .map((replica) =>
        this.replicas
          .request(replica, 'session.stream', body, { timeoutMs: TIMEOUT_MS })
          .catch((): JsonObject => ({})),
      );
    return Promise.all(answers);
  }

  #logUnrecorded(error: unknown): void {
    this.#deps.log.debug('The location of a stream could not be recorded.', { reason: String(error) });
  }
}

function serialize(message: OneWayMessage): string {
  switch (message.kind) {
    case 'notification':
      return serializeNotification(message.method, message.params);
    case 'result':
      return serializeResult(message.id, message.payload);
    case 'error':
      return serializeError(message.id, message.error);
  }
}
