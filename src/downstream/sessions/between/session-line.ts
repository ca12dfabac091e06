import { callerIdentity } from '../../../model/caller.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Logger } from '../../../observe/log.ts';
import { errorText, notificationText, parseMessage, resultText } from '../../../wire/message.ts';
import type { Message } from '../../../wire/message.ts';
import { namedIn, sessionProof } from './others.ts';
import type { Others, StreamPlaces } from './others.ts';
import { RelayedStreams } from './relayed-streams.ts';
import type { Session } from '../session.ts';

export type Told = Extract<Message, { kind: 'notification' | 'result' | 'error' }>;

export interface LineDeps {
  readonly others: Others;
  readonly places: StreamPlaces;
  /** The session that is served here, by what is the same everywhere. */
  readonly served: (id: string) => Session | undefined;
  /** Takes over what was written down of it. */
  readonly reread: (session: Session) => Promise<void>;
  readonly log: Logger;
}

const PATIENCE_MS = 5000;
/** What may wait to be passed on for one session. */
const MAX_WAITING = 500;

/**
 * What gateways tell each other about sessions that several of them serve: answers for the one that asked, the end of requests that
 * another one works on, and what a client is to hear on the stream that another one holds.
 */
export class SessionLine implements Disposable {
  readonly others: Others;
  readonly #deps: LineDeps;
  readonly #answering: readonly Disposable[];
  readonly relayed: RelayedStreams;
  readonly #passing = new Map<string, { last: Promise<void>; waiting: number }>();

  constructor(deps: LineDeps) {
    this.#deps = deps;
    this.others = deps.others;
    const { others } = deps;
    this.relayed = new RelayedStreams(others, (body) => this.#session(body));
    this.#answering = [
      this.relayed,
      others.answer('session.message', (body) => this.#message(body)),
      others.answer('session.deliver', (body, { from }) => this.#deliver(body, from)),
      others.answer('session.changed', async (body) => {
        const session = this.#session(body);
        if (session !== undefined) await deps.reread(session);
        return {};
      }),
      others.answer('session.stream', (body, { from }) => this.#stream(body, from)),
    ];
  }

  /** Hands a message to the gateway that it is meant for; undefined when that is this one, or nobody else's business. */
  forward(session: Session, message: Told): Promise<void> | undefined {
    const { others } = this.#deps;
    if (message.kind !== 'notification') {
      const by = namedIn(message.id);
      if (by === undefined || by === others.self) return undefined;
      return this.#hand(by, session, message);
    }
    const isElsewhere =
      message.method === 'notifications/cancelled' && !session.isWorkingOn(message.params?.['requestId']);
    if (!isElsewhere) return undefined;
    // Nobody knows who works on it; a client may also cancel what is done.
    for (const other of others.all()) this.#hand(other, session, message).catch(() => {});
    return Promise.resolve();
  }

  /** Says something on the stream that another gateway holds, in the order in which it was said. */
  pass(session: Session, told: { readonly method: string; readonly text: string }): void {
    const { id } = session;
    const queue = this.#passing.get(id) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= MAX_WAITING) return;
    queue.waiting++;
    this.#passing.set(id, queue);
    queue.last = queue.last
      .then(() => this.#passOne(session, told))
      .catch((error: unknown) => this.#deps.log.debug('A client was not told.', { reason: String(error) }))
      .finally(() => {
        if (--queue.waiting === 0) this.#passing.delete(id);
      });
  }

  /** Something was set in the session; resolves when it holds where its client hears of what it is about. */
  async changed(session: Session): Promise<void> {
    const { holder } = session;
    const { others } = this.#deps;
    if (holder === undefined) return;
    const options = { timeoutMs: PATIENCE_MS };
    await others.ask(holder, 'session.changed', sessionProof(session), options).catch(() => {}); // It hears of it from the database as well.
  }

  /** The newest stream of the session is here; gives what others could not tell it, and whether any of them knows that this is all. */
  async opened(session: Session): Promise<{ readonly missed: readonly string[]; readonly isKnown: boolean }> {
    const { places } = this.#deps;
    const [answers] = await Promise.all([
      this.#tellAll(session, { isOpen: true }),
      places.note(session.id).catch((error: unknown) => this.#unwritten(error)),
    ]);
    const missed = answers.flatMap(({ missed: told }): unknown[] => (Array.isArray(told) ? told : []));
    return {
      missed: [...new Set(missed.filter((text): text is string => typeof text === 'string'))],
      isKnown: answers.some((answer) => answer['isKnown'] === true),
    };
  }

  /** No stream of the session is here any more. */
  closed(session: Session): void {
    void this.#tellAll(session, { isOpen: false });
    this.#deps.places.forget(session.id).catch((error: unknown) => this.#unwritten(error));
  }

  /** The gateway that holds the stream, when that is another one. */
  async whereStream(session: string): Promise<string | undefined> {
    const { others, places } = this.#deps;
    const place = await places.find(session).catch(() => undefined); // Without it, whoever has it says so when it is opened anew.
    return place !== undefined && others.all().includes(place) ? place : undefined;
  }

  [Symbol.dispose](): void {
    for (const answering of this.#answering) answering[Symbol.dispose]();
  }

  async #hand(to: string, session: Session, message: Told): Promise<void> {
    const { others } = this.#deps;
    const body = { ...sessionProof(session), text: textOf(message) };
    const { isTaken } = await others.ask(to, 'session.message', body, { timeoutMs: PATIENCE_MS });
    if (isTaken !== true)
      throw new GatewayError(
        'CALL_CANCELLED',
        'Nobody waits for this any more; the call that asked is over.',
      );
  }

  async #passOne(session: Session, told: { readonly method: string; readonly text: string }): Promise<void> {
    const { others } = this.#deps;
    const options = { timeoutMs: PATIENCE_MS };
    const body = { ...sessionProof(session), ...told };
    const isTaken = async (by: string | undefined): Promise<boolean> => {
      if (by === undefined || !others.all().includes(by)) return false;
      const answer = await others.ask(by, 'session.deliver', body, options).catch((): JsonObject => ({}));
      return answer['isTaken'] === true;
    };
    const { holder } = session;
    if (await isTaken(holder)) return;
    const place = await this.whereStream(session.id);
    const isMoved = place !== holder && (await isTaken(place));
    session.movedTo(isMoved ? place : undefined);
    if (!isMoved) session.deliver(told.method, told.text, others.self);
  }

  async #message(body: JsonObject): Promise<JsonObject> {
    const session = this.#session(body);
    const message = typeof body['text'] === 'string' ? parseMessage(body['text']) : undefined;
    const isTold =
      message?.kind === 'notification' || message?.kind === 'result' || message?.kind === 'error';
    if (session === undefined || message === undefined || !isTold) return { isTaken: false };
    if (message.kind === 'notification' && !session.isWorkingOn(message.params?.['requestId']))
      return { isTaken: false };
    session.receive(message);
    return { isTaken: true };
  }

  async #deliver(body: JsonObject, from: string): Promise<JsonObject> {
    const { method, text } = body;
    const session = this.#session(body);
    if (session?.hasStream !== true || typeof method !== 'string' || typeof text !== 'string')
      return { isTaken: false };
    session.deliver(method, text, from);
    return { isTaken: true };
  }

  async #stream(body: JsonObject, from: string): Promise<JsonObject> {
    const session = this.#session(body);
    if (session === undefined) return {};
    if (body['isOpen'] === true) {
      const { isUpToDate: isKnown } = session;
      session.movedTo(from);
      return { isKnown, missed: session.takeMissed() };
    }
    if (session.holder === from) session.movedTo(undefined);
    return {};
  }

  /** Nothing is done for a session in the name of another caller. */
  #session({ session: id, caller }: JsonObject): Session | undefined {
    const session = typeof id === 'string' ? this.#deps.served(id) : undefined;
    return session !== undefined && callerIdentity(session.caller) === caller ? session : undefined;
  }

  async #tellAll(session: Session, what: JsonObject): Promise<readonly JsonObject[]> {
    const { others } = this.#deps;
    const body = { ...sessionProof(session), ...what };
    const options = { timeoutMs: PATIENCE_MS };
    const answers = others
      .all()
      .map((other) => others.ask(other, 'session.stream', body, options).catch((): JsonObject => ({})));
    return Promise.all(answers);
  }

  #unwritten(error: unknown): void {
    this.#deps.log.debug('Where a stream is could not be written down.', { reason: String(error) });
  }
}

function textOf(message: Told): string {
  switch (message.kind) {
    case 'notification':
      return notificationText(message.method, message.params);
    case 'result':
      return resultText(message.id, message.payload);
    case 'error':
      return errorText(message.id, message.error);
  }
}
