import { Payload } from '../../../core/lib/payload.ts';
import { stringifyExact } from '../../../core/lib/exact-json.ts';
import type { ErrorCode } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import {
  serializeError,
  serializeNotification,
  parseMessage,
  serializeResult,
} from '../../../protocol/rpc-message.ts';
import type { RpcMessage, RequestId } from '../../../protocol/rpc-message.ts';

interface PendingRequest {
  readonly id: RequestId;
  readonly method: string;
  /** The line to send again. Undefined if the request may have had an effect, because such a request is never repeated. */
  readonly repeatableLine: string | undefined;
}

const LISTEN = 'subscriptions/listen';
/** The methods that are repeated with the next gateway, because repeating them has no further effect. */
const REPEATABLE_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'logging/setLevel',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  LISTEN,
]);
const LIST_CHANGED_METHODS = ['tools', 'prompts', 'resources'].map(
  (list) => `notifications/${list}/list_changed`,
);
const GATEWAY_LOST_MESSAGE =
  'The gateway stopped while it processed this request and has been started again. It is unknown whether the server ran the request; check before you repeat it.';
/** Subscriptions beyond this number are not restored after a crash. The client then misses their updates and nothing else. */
const MAX_SUBSCRIPTIONS = 1000;

/** Records the state that another gateway needs to continue a client's session: handshake, subscriptions and pending requests. */
export class SessionRecorder {
  readonly #pending = new Map<string, PendingRequest>();
  /** The ids of the replayed requests, whose responses the client must not see. */
  readonly #replayIds = new Set<string>();
  readonly #subscriptions = new Set<string>();
  #initializeParams: JsonObject | undefined;
  #isInitialized = false;
  #logLevelParams: JsonObject | undefined;
  #replayCount = 0;

  get hasPendingRequests(): boolean {
    return this.#pending.size > 0;
  }

  /** Records a line that the client sends to the gateway. Returns whether the line needs a response. */
  recordClientLine(line: string): boolean {
    const parsed = parseMessage(line);
    if (parsed.kind === 'garbage') return true; // The gateway answers it with an error.
    const messages = parsed.kind === 'batch' ? parsed.messages : [parsed];
    for (const message of messages) this.#recordMessage(message, parsed.kind === 'batch' ? undefined : line);
    return messages.some(({ kind }) => kind === 'request' || kind === 'invalid');
  }

  /** Records a response of the gateway by the raw JSON text of its id. Returns false if the client must not see the response. */
  recordResponse(id: string): boolean {
    if (this.#replayIds.delete(id)) return false;
    if (this.#pending.get(id)?.method === 'initialize') this.#isInitialized = true;
    this.#pending.delete(id);
    return true;
  }

  /** Drops the requests that stay open by design, so that a client that has closed its input does not wait for them. */
  dropListenRequests(): void {
    for (const [key, { method }] of this.#pending) if (method === LISTEN) this.#pending.delete(key);
  }

  /** Called when the gateway is lost. Returns the error responses to requests that may have run and are therefore not repeated. */
  failUnrepeatableRequests(): readonly string[] {
    this.#replayIds.clear();
    const responses: string[] = [];
    for (const [key, { id, method, repeatableLine }] of this.#pending) {
      if (repeatableLine !== undefined) continue;
      this.#pending.delete(key);
      responses.push(serializeFailure(id, method, 'GATEWAY_LOST', GATEWAY_LOST_MESSAGE));
    }
    return responses;
  }

  /** Called when no other gateway can be used. Returns the error responses to all pending requests. */
  failAllRequests(reason: string): readonly string[] {
    const requests = [...this.#pending.values()];
    this.#pending.clear();
    return requests.map(({ id, method }) => serializeFailure(id, method, 'GATEWAY_UNAVAILABLE', reason));
  }

  /** Returns the first lines for the next gateway: the handshake, the log level, the subscriptions and the repeatable requests. */
  createReplay(): readonly string[] {
    const lines: string[] = [];
    if (this.#isInitialized) {
      lines.push(this.#createReplayRequest('initialize', this.#initializeParams));
      lines.push(serializeNotification('notifications/initialized', undefined));
      if (this.#logLevelParams !== undefined)
        lines.push(this.#createReplayRequest('logging/setLevel', this.#logLevelParams));
      for (const uri of this.#subscriptions)
        lines.push(this.#createReplayRequest('resources/subscribe', { uri }));
    }
    for (const { repeatableLine } of this.#pending.values())
      if (repeatableLine !== undefined) lines.push(repeatableLine);
    return lines;
  }

  /** Returns the notifications that tell the client to list everything again, because the new gateway may offer other entries. */
  createListChangedLines(): readonly string[] {
    if (!this.#isInitialized) return [];
    return LIST_CHANGED_METHODS.map((method) => serializeNotification(method, undefined));
  }

  #recordMessage(message: RpcMessage, line: string | undefined): void {
    if (message.kind === 'notification') {
      if (message.method !== 'notifications/cancelled') return;
      const id = message.params?.['requestId'];
      if (typeof id === 'string' || typeof id === 'number') this.#pending.delete(serializeId(id));
    } else if (message.kind === 'request') {
      const { id, method, params = {} } = message;
      const repeatableLine = REPEATABLE_METHODS.has(method) ? line : undefined;
      this.#pending.set(serializeId(id), { id, method, repeatableLine });
      if (method === 'initialize') this.#initializeParams = params;
      else if (method === 'logging/setLevel') this.#logLevelParams = params;
      else if (method === 'resources/subscribe') this.#addSubscription(params['uri']);
      else if (method === 'resources/unsubscribe') this.#subscriptions.delete(String(params['uri']));
    }
  }

  #addSubscription(uri: unknown): void {
    if (typeof uri === 'string' && this.#subscriptions.size < MAX_SUBSCRIPTIONS) this.#subscriptions.add(uri);
  }

  #createReplayRequest(method: string, params: JsonObject | undefined): string {
    const id = `trunkline/replay/${++this.#replayCount}`;
    this.#replayIds.add(serializeId(id));
    return stringifyExact({ jsonrpc: '2.0', id, method, params });
  }
}

/** Returns the id exactly as the gateway writes it, because responses are matched by the raw text. */
function serializeId(id: RequestId): string {
  return typeof id === 'number' ? String(id) : stringifyExact(id);
}

function serializeFailure(id: RequestId, method: string, code: ErrorCode, message: string): string {
  if (method !== 'tools/call') return serializeError(id, { code: -32603, message, data: { code } });
  const content = [{ type: 'text', text: message }];
  return serializeResult(id, Payload.of({ content, isError: true, _meta: { 'trunkline/code': code } }));
}
