import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLogLevel } from '../../core/log-level.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';
import { ClientCall } from '../client-call.ts';
import type { ClientSession } from '../client-session.ts';
import { invalidParamsError, requireStringParam } from '../encode-response.ts';
import type { ClientSettingsChange, ClientSettings } from '../sessions/client-settings.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';

const EMPTY_RESULT = Payload.of({});
/** The first request after a session was restored waits at most this long for servers to accept the session's subscriptions. */
const SUBSCRIBE_TIMEOUT_MS = 2000;

/** The settings of a legacy session: the log level, resource subscriptions, and the tools that the client has found. */
export class SessionSettings {
  readonly #session: ClientSession;
  readonly #subscriptions: ClientSubscriptions;
  readonly #follows = new Set<string>();

  constructor(session: ClientSession, subscriptions: ClientSubscriptions) {
    this.#session = session;
    this.#subscriptions = subscriptions;
  }

  async setLogLevel(level: unknown): Promise<Payload> {
    if (!isLogLevel(level)) throw invalidParamsError('level must be a log level such as "info".');
    this.#applyLogLevel(level);
    await this.#save({ level });
    return EMPTY_RESULT;
  }

  async subscribe(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const uri = requireStringParam(params, 'uri');
    // The server of the resource is known only after the listings have been fetched.
    await this.#session.options.backend.whenListed();
    const call = new ClientCall(this.#session, request, 'legacy');
    try {
      this.#follows.add(uri);
      await this.#subscriptions.subscribe(uri, (update) => this.#notify(uri, update), call);
    } catch (error) {
      this.#follows.delete(uri);
      throw error;
    } finally {
      call.finish();
    }
    await this.#save({ follow: uri });
    return EMPTY_RESULT;
  }

  async unsubscribe(params: JsonObject): Promise<Payload> {
    const uri = requireStringParam(params, 'uri');
    this.#follows.delete(uri);
    this.#subscriptions.unsubscribe(uri);
    await this.#save({ unfollow: uri });
    return EMPTY_RESULT;
  }

  /** Does not wait for the store, since the tools are listed even if saving fails. */
  saveRevealed(names: readonly string[]): void {
    void this.#save({ reveal: names });
  }

  /** Applies settings that the client made at another replica or before a restart. */
  async adopt({ level, follows, revealed }: ClientSettings): Promise<void> {
    if (level !== undefined) this.#applyLogLevel(level);
    this.#session.exposure.restore(revealed);
    const wanted = new Set(follows);
    for (const uri of this.#follows) {
      if (wanted.has(uri)) continue;
      this.#follows.delete(uri);
      this.#subscriptions.unsubscribe(uri);
    }
    const added = follows.filter((uri) => !this.#follows.has(uri));
    if (added.length === 0) return;
    for (const uri of added) this.#follows.add(uri);
    const subscribed = this.#session.options.backend
      .whenListed()
      .then(() =>
        Promise.allSettled(
          added.map((uri) => this.#subscriptions.subscribe(uri, (update) => this.#notify(uri, update))),
        ),
      );
    await Promise.race([subscribed, timeout(SUBSCRIBE_TIMEOUT_MS)]);
  }

  #applyLogLevel(level: string): void {
    this.#session.logLevel = level;
    this.#session.options.backend.requestLogLevel(level);
  }

  #notify(uri: string, update: JsonObject): void {
    this.#session.options.channel.notify('notifications/resources/updated', { ...update, uri });
  }

  async #save(change: ClientSettingsChange): Promise<void> {
    await this.#session.options.stored?.saveChange(change);
  }
}

function timeout(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
