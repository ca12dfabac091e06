import { randomUUID } from 'node:crypto';
import type { ExposureContext } from '../exposure/exposure.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import type { RequestingClient, CallDeadline } from '../core/requesting-client.ts';
import type { JsonObject } from '../core/json.ts';
import { isLevelEnabled } from '../core/log-level.ts';
import type { Era } from '../core/server-facts.ts';
import { readEnvelope } from '../protocol/envelope.ts';
import type { IncomingRequest } from '../protocol/client-connection.ts';
import type { ClientSession } from './client-session.ts';
import { askUntilComplete, isInputRequired } from './questions/ask-until-complete.ts';
import type { ParkedChannel } from './questions/parked-calls.ts';
import { retryAfterPages } from './questions/retry-after-pages.ts';
import { retryAfterSignIn } from './questions/sign-in-offers.ts';
import type { SignInOffers } from './questions/sign-in-offers.ts';

/**
 * A client's request that servers answer. Through it, servers reach the client while they work (`RequestingClient`), and exposures call
 * tools (`ExposureContext`). One is created for every call, so it is a single object without closures.
 */
export class ClientCall implements RequestingClient, ExposureContext {
  readonly client: ClientSession;
  readonly request: IncomingRequest;
  readonly era: Era;
  /** The description of the client, from `initialize` or from the request itself. */
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  /** Identifies the session of a legacy client, or the request of a modern client. */
  readonly session: string;
  /** Selects the upstream for this call if the server is not shared between sessions. */
  readonly serverSession: string;
  /** All calls that an exposure makes for this request have the same group. */
  readonly group: string;
  deadline: CallDeadline | undefined = undefined;
  onRequestEnd: (() => void) | undefined = undefined;
  #parked: ParkedChannel | undefined = undefined;
  #isFinished = false;

  constructor(client: ClientSession, request: IncomingRequest, era: Era) {
    this.client = client;
    this.request = request;
    this.era = era;
    const { info, capabilities, logLevel } = era === 'legacy' ? client : readEnvelope(request.params ?? {});
    this.info = info;
    this.capabilities = capabilities;
    this.logLevel = logLevel;
    const { isConnection = false } = client.options;
    const hasSession = era === 'legacy' || isConnection;
    this.serverSession = client.sessionKey(era);
    this.group = `${hasSession ? this.serverSession : randomUUID()}:${String(request.id)}`;
    this.session = era === 'legacy' ? this.serverSession : this.group;
  }

  /** Makes all further questions and notifications use the channel of a call that may be parked. */
  park(channel: ParkedChannel): void {
    this.#parked = channel;
  }

  /** Called when the request is answered. Servers then reach a legacy client through its session instead of the request. */
  finish(): void {
    this.#isFinished = this.era === 'legacy';
  }

  get cancellation(): Cancellation {
    return this.#parked?.cancellation ?? this.request.cancellation;
  }

  get hasSingleServer(): boolean {
    return this.client.isSingleServer;
  }

  get isAggregated(): boolean {
    return !this.client.isSingleServer;
  }

  get isOnlyClient(): boolean {
    return this.era === 'legacy' && this.client.hasSingleClient;
  }

  async ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject> {
    this.deadline?.setQuestionOpen(true);
    try {
      const question = { method, params };
      if (this.#parked !== undefined)
        return await this.#parked.ask(question, { cancellation, onRequestEnd: () => this.onRequestEnd?.() });
      const { capabilities, hasSingleServer: isSingleServer } = this;
      const options = { capabilities, cancellation, isSingleServer };
      return await this.client.questions.ask(this.request, question, options);
    } finally {
      this.deadline?.setQuestionOpen(false);
    }
  }

  /** Sends a log message if the client's level allows it. Without a level, a legacy client of a single server receives every message. */
  log(message: JsonObject): void {
    const receivesAll = this.era === 'legacy' && this.hasSingleServer && this.logLevel === undefined;
    if (receivesAll || isLevelEnabled(message['level'], this.logLevel))
      this.sendNotification('notifications/message', message);
  }

  sendNotification(method: string, params: JsonObject | undefined): void {
    if (this.#isFinished) this.client.options.channel.notify(method, params);
    else this.notify(method, params);
  }

  /** Sends a notification on the stream of the request. */
  notify(method: string, params: JsonObject | undefined): void {
    if (this.#parked === undefined) this.request.notify(method, params);
    else this.#parked.notify(method, params);
  }

  get caller(): Caller {
    return this.client.options.caller;
  }

  get listOwner(): string {
    return this.serverSession;
  }

  get signIns(): SignInOffers | undefined {
    return this.client.options.signIns;
  }

  get view(): CatalogView {
    return this.client.view;
  }

  async settled(): Promise<CatalogView> {
    await this.client.options.backend.whenListed();
    return this.view;
  }

  call(name: string, request: CallRequest): Promise<Payload> {
    const { backend, caller } = this.client.options;
    return retryAfterSignIn(this, request, () => backend.callTool(caller, name, request));
  }

  async callUntilResult(name: string, request: CallRequest): Promise<Payload> {
    const { params, requestingClient, cancellation } = request;
    if (requestingClient === undefined) return this.call(name, request);
    const repeat = (repeated: JsonObject): Promise<Payload> =>
      retryAfterPages(() => this.call(name, { ...request, params: repeated }), {
        requestingClient,
        cancellation,
      });
    const first = await repeat(params);
    if (!isInputRequired(first)) return first;
    return askUntilComplete(first, { params, requestingClient, cancellation, repeat });
  }

  reveal(names: readonly string[]): void {
    // The lists of a modern client must not depend on its earlier requests, so nothing is revealed to it.
    if (this.era === 'modern' || !this.client.exposure.reveal(names)) return;
    // The stream of this request delivers the notification before the response.
    this.request.notify('notifications/tools/list_changed', undefined);
  }
}
