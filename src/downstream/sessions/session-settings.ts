import type { Served } from '../../gateway/served.ts';
import { Payload } from '../../lib/payload.ts';
import { RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { isLogLevel } from '../../model/log-level.ts';
import { RPC } from '../../wire/era.ts';
import type { ClientChannel, IncomingRequest } from '../../wire/serving.ts';
import { stringParam } from '../client-calls.ts';
import type { ClientCalls } from '../client-calls.ts';
import type { Listeners } from '../listeners.ts';
import type { SessionExposure } from '../session-exposure.ts';
import type { KeptSession } from './kept-session.ts';
import type { SessionChange, SessionState } from './session-state.ts';

interface SettingsDeps {
  readonly gateway: Served;
  readonly channel: ClientChannel;
  readonly kept?: KeptSession | undefined;
  readonly calls: ClientCalls;
  readonly exposure: SessionExposure;
  readonly listeners: Listeners;
}

const EMPTY = Payload.of({});
/** What follows may wait so long for a server to agree to what its client had subscribed to. */
const AGREE_MS = 2000;

/** What an older client sets in its session: the level of logs, resources to be told about, tools that it has found. */
export class SessionSettings {
  readonly #deps: SettingsDeps;
  readonly #follows = new Set<string>();

  constructor(deps: SettingsDeps) {
    this.#deps = deps;
  }

  async setLogLevel(level: unknown): Promise<Payload> {
    if (!isLogLevel(level))
      throw new RpcError({ code: RPC.invalidParams, message: 'level must be a log level such as "info".' });
    this.#useLevel(level);
    await this.#keep({ level });
    return EMPTY;
  }

  async subscribe(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const uri = stringParam(params, 'uri');
    const { gateway, calls } = this.#deps;
    // Whose resource it is may not be known yet.
    await gateway.settled();
    const behind = calls.behind(request);
    try {
      this.#follows.add(uri);
      await this.#deps.listeners.subscribe(uri, (update) => this.#tell(uri, update), behind);
    } catch (error) {
      this.#follows.delete(uri);
      throw error;
    } finally {
      behind.isOver = true;
    }
    await this.#keep({ follow: uri });
    return EMPTY;
  }

  async unsubscribe(params: JsonObject): Promise<Payload> {
    const uri = stringParam(params, 'uri');
    this.#follows.delete(uri);
    this.#deps.listeners.unsubscribe(uri);
    await this.#keep({ unfollow: uri });
    return EMPTY;
  }

  /** Written down while the search goes on: what a client has found is shown to it in any case. */
  revealed(names: readonly string[]): void {
    void this.#keep({ reveal: names });
  }

  /** Makes it hold here, whoever it was set at. */
  async adopt({ level, follows, revealed }: SessionState): Promise<void> {
    const { listeners, exposure, gateway } = this.#deps;
    if (level !== undefined) this.#useLevel(level);
    exposure.restore(revealed);
    const wanted = new Set(follows);
    for (const uri of this.#follows) {
      if (wanted.has(uri)) continue;
      this.#follows.delete(uri);
      listeners.unsubscribe(uri);
    }
    const added = follows.filter((uri) => !this.#follows.has(uri));
    if (added.length === 0) return;
    for (const uri of added) this.#follows.add(uri);
    const subscribed = gateway
      .settled()
      .then(() =>
        Promise.allSettled(added.map((uri) => listeners.subscribe(uri, (update) => this.#tell(uri, update)))),
      );
    await Promise.race([subscribed, patience(AGREE_MS)]);
  }

  #useLevel(level: string): void {
    this.#deps.calls.logLevel = level;
    this.#deps.gateway.wantLogs(level);
  }

  #tell(uri: string, update: JsonObject): void {
    this.#deps.channel.notify('notifications/resources/updated', { ...update, uri });
  }

  async #keep(change: SessionChange): Promise<void> {
    await this.#deps.kept?.change(change);
  }
}

function patience(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
