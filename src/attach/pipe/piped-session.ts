import { Payload } from '../../lib/payload.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import type { ErrorCode } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { errorText, notificationText, parseMessage, resultText } from '../../wire/message.ts';
import type { Message, RequestId } from '../../wire/message.ts';

interface Waiting {
  readonly id: RequestId;
  readonly method: string;
  /** The line itself, where asking again changes nothing; what may have acted is never asked again. */
  readonly line: string | undefined;
}

const LISTEN = 'subscriptions/listen';
/** Asked again of the next gateway, since answering them changes nothing. */
const REPEATABLE: ReadonlySet<string> = new Set([
  ...['initialize', 'server/discover', 'ping', 'logging/setLevel'],
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
  ...['resources/subscribe', 'resources/unsubscribe', LISTEN],
]);
const LIST_CHANGES = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`);
const LOST =
  'The gateway ended while it worked on this and has been started again. Whether the server carried it out is not known.';
/** More is forgotten at a crash; the client then misses updates, and nothing else. */
const MAX_SUBSCRIPTIONS = 1000;

/** What a pipe has to know of its client's session, so that another gateway can go on with it. */
export class PipedSession {
  readonly #waiting = new Map<string, Waiting>();
  readonly #swallowed = new Set<string>();
  readonly #subscribed = new Map<string, string>();
  #initialize: JsonObject | undefined;
  #isOpen = false;
  #logLevel: JsonObject | undefined;
  #replays = 0;

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** A line of the client is on its way to the gateway; true when it asks something. */
  sent(line: string): boolean {
    const parsed = parseMessage(line);
    if (parsed.kind === 'garbage') return true; // It will be told so.
    const messages = parsed.kind === 'batch' ? parsed.messages : [parsed];
    for (const message of messages) this.#note(message, parsed.kind === 'batch' ? undefined : line);
    return messages.some(({ kind }) => kind === 'request' || kind === 'invalid');
  }

  /** An answer of the gateway, by its id as written; false when the client must not see it. */
  answered(id: string): boolean {
    if (this.#swallowed.delete(id)) return false;
    if (this.#waiting.get(id)?.method === 'initialize') this.#isOpen = true;
    this.#waiting.delete(id);
    return true;
  }

  /** The client asks nothing more and waits for answers: what stays open by its nature has none. */
  closing(): void {
    for (const [key, { method }] of this.#waiting) if (method === LISTEN) this.#waiting.delete(key);
  }

  /** The gateway is gone: what the client is told about requests that may have been carried out. */
  lost(): readonly string[] {
    this.#swallowed.clear();
    const answers: string[] = [];
    for (const [key, { id, method, line }] of this.#waiting) {
      if (line !== undefined) continue;
      this.#waiting.delete(key);
      answers.push(ownAnswer(id, method, 'GATEWAY_LOST', LOST));
    }
    return answers;
  }

  /** There is no gateway to go on with: the last answers to everything that the client still waits for. */
  abandoned(reason: string): readonly string[] {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    return waiting.map(({ id, method }) => ownAnswer(id, method, 'GATEWAY_UNAVAILABLE', reason));
  }

  /** What the next gateway is told first: who the client is, and what it still waits for. */
  replay(): readonly string[] {
    const lines: string[] = [];
    if (this.#isOpen) {
      lines.push(this.#again('initialize', this.#initialize));
      lines.push(notificationText('notifications/initialized', undefined));
      if (this.#logLevel !== undefined) lines.push(this.#again('logging/setLevel', this.#logLevel));
      for (const uri of this.#subscribed.values()) lines.push(this.#again('resources/subscribe', { uri }));
    }
    return [...lines, ...[...this.#waiting.values()].flatMap(({ line }) => line ?? [])];
  }

  /** What the client is told when another gateway has taken over. */
  news(): readonly string[] {
    return this.#isOpen ? LIST_CHANGES.map((method) => notificationText(method, undefined)) : [];
  }

  #note(message: Message, line: string | undefined): void {
    if (message.kind === 'notification') {
      if (message.method !== 'notifications/cancelled') return;
      const id = message.params?.['requestId'];
      if (typeof id === 'string' || typeof id === 'number') this.#waiting.delete(keyOf(id));
    } else if (message.kind === 'request') {
      const { id, method, params = {} } = message;
      this.#waiting.set(keyOf(id), { id, method, line: REPEATABLE.has(method) ? line : undefined });
      if (method === 'initialize') this.#initialize = params;
      else if (method === 'logging/setLevel') this.#logLevel = params;
      else if (method === 'resources/subscribe') this.#subscribe(params['uri']);
      else if (method === 'resources/unsubscribe') this.#subscribed.delete(String(params['uri']));
    }
  }

  #subscribe(uri: unknown): void {
    if (typeof uri === 'string' && this.#subscribed.size < MAX_SUBSCRIPTIONS) this.#subscribed.set(uri, uri);
  }

  #again(method: string, params: JsonObject | undefined): string {
    const id = `trunkline/replay/${++this.#replays}`;
    this.#swallowed.add(keyOf(id));
    return stringifyExact({ jsonrpc: '2.0', id, method, params });
  }
}

/** As the gateway writes ids. */
function keyOf(id: RequestId): string {
  return typeof id === 'number' ? String(id) : stringifyExact(id);
}

function ownAnswer(id: RequestId, method: string, code: ErrorCode, message: string): string {
  if (method !== 'tools/call') return errorText(id, { code: -32603, message, data: { code } });
  const content = [{ type: 'text', text: message }];
  return resultText(id, Payload.of({ content, isError: true, _meta: { 'trunkline/code': code } }));
}
