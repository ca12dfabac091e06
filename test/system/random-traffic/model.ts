import { withEnvelope, modernHeaders } from '../../support/modern-envelope.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { PREFIX, envelopeOf, invalidText } from './broken-texts.ts';
import { expectedOf, paramsOf } from './requests.ts';
import type { Answer, ServerCall } from './requests.ts';
import type { Action, ClientKind, IdKind, Request, ServerName, Step } from './traffic.ts';

/** One text that a client sends, with everything that must follow from it. */
export interface Sent {
  readonly client: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly answers: readonly { readonly id: string; readonly answer: Answer }[];
  readonly progress: readonly { readonly token: string; readonly steps: number }[];
  readonly calls: readonly ServerCall[];
  /** Number of the request that is cancelled by closing its connection, as in modern HTTP. */
  readonly hangsUp?: number;
  /** Tag of the call that this text cancels. */
  readonly cancels?: string;
  readonly listens?: string;
}

const VENDOR = 'example.com/tag';
const METHODS_OF_LEGACY = new Set([
  'ping',
  'set-level',
  'set-no-level',
  'subscribe',
  'subscribe-unknown',
  'unsubscribe',
]);
const METHODS_OF_MODERN = new Set(['discover', 'listen']);

/** Computes the texts and the expected outcome of the traffic before anything is sent. */
export function planOf(actions: readonly Action[], kinds: readonly ClientKind[]): readonly Sent[] {
  const planner = new Planner(kinds);
  for (const { client, step } of actions) planner.add(client % kinds.length, step);
  return planner.finish();
}

class Planner {
  readonly #kinds: readonly ClientKind[];
  readonly #sent: Sent[] = [];
  readonly #cancels: { readonly at: number; readonly make: () => Sent }[] = [];
  #tags = 0;

  constructor(kinds: readonly ClientKind[]) {
    this.#kinds = kinds;
  }

  add(client: number, step: Step): void {
    this.#cancelDue();
    switch (step.type) {
      case 'request':
        this.#sent.push(this.#request(client, step));
        return;
      case 'twice':
        return this.#twice(client, step.request);
      case 'batch':
        this.#sent.push(this.#batch(client, step));
        return;
      case 'slow':
        return this.#slow(client, step);
      default:
        this.#sent.push(this.#odd(client, step));
    }
  }

  finish(): readonly Sent[] {
    for (const { make } of this.#cancels.splice(0)) this.#sent.push(make());
    return this.#sent;
  }

  #cancelDue(): void {
    for (const cancel of this.#cancels.filter(({ at }) => at <= this.#sent.length)) {
      this.#cancels.splice(this.#cancels.indexOf(cancel), 1);
      this.#sent.push(cancel.make());
    }
  }

  /** Sends a second request with the same id while the first is running; both are answered. */
  #twice(client: number, request: Request): void {
    const first = this.#request(client, { ...request, kind: 'echo' });
    const id = first.answers[0]?.id;
    this.#sent.push(first, this.#request(client, { ...request, kind: 'echo' }, id));
  }

  #request(client: number, request: Request, sameId?: string): Sent {
    const tag = `t${++this.#tags}`;
    const id = sameId ?? idText(request.id, this.#tags);
    const isModern = this.#isModern(client, request.isModern);
    const { method, params } = paramsOf(request, tag);
    const token = tokenOf(request, tag);
    const meta = { [VENDOR]: tag, ...(token === undefined ? {} : { progressToken: token }) };
    const full = isModern ? withEnvelope(params, {}, meta) : { ...params, _meta: meta };
    const headers = this.#headers(client, method, params);
    const text = message(id, method, full);
    const isElsewhere = (isModern ? METHODS_OF_LEGACY : METHODS_OF_MODERN).has(request.kind);
    const base = { client, text, headers, answers: [], progress: [], calls: [] };
    if (isElsewhere) {
      // `server/discover` is always modern, so without an envelope it is invalid.
      const code = request.kind === 'discover' ? -32602 : -32601;
      return { ...base, answers: [{ id, answer: { error: code } }] };
    }
    if (request.kind === 'listen') return { ...base, listens: id };
    const { answer, call } = expectedOf(request, { tag, isModern });
    const isTold = request.kind === 'progress' && typeof token !== 'object' && token !== undefined;
    return {
      ...base,
      answers: [{ id, answer }],
      progress: isTold ? [{ token: JSON.stringify(token), steps: request.steps }] : [],
      calls: call === undefined ? [] : [{ ...call, tag }],
    };
  }

  #batch(client: number, step: Extract<Step, { type: 'batch' }>): Sent {
    // A batch cannot open a subscription, and all of its requests are legacy, because only legacy versions have batches.
    const parts = step.requests.map((request) =>
      this.#request(client, {
        ...request,
        kind: request.kind === 'listen' ? 'echo' : request.kind,
        isModern: false,
      }),
    );
    const slow = step.slow.map((server) => this.#hanging(client, server, false));
    const all = [...parts, ...slow.map(({ sent }) => sent)];
    const texts = [...all.map(({ text }) => text), ...(step.hasRubbish ? ['7'] : [])];
    const text = `[${texts.join(',')}]`;
    const headers = this.#headers(client, '', {});
    const base = { client, text, headers, progress: [], calls: [] };
    const refused = { ...base, answers: [{ id: 'null', answer: { error: -32600 } }] };
    if (this.#kinds[client]?.endsWith('-batching') !== true || texts.length === 0) return refused;
    for (const { cancel } of slow) this.#cancels.push({ at: this.#sent.length + 1, make: () => cancel });
    return {
      ...base,
      answers: [
        ...parts.flatMap(({ answers }) => answers),
        ...(step.hasRubbish ? [{ id: 'null', answer: { error: -32600 } }] : []),
      ],
      progress: parts.flatMap(({ progress }) => progress),
      calls: all.flatMap(({ calls }) => calls),
    };
  }

  #slow(client: number, { server, isModern, cancelAfter }: Extract<Step, { type: 'slow' }>): void {
    const { sent, cancel } = this.#hanging(client, server, isModern);
    const number = this.#sent.length;
    this.#sent.push(sent);
    const hangsUp = this.#kinds[client] === 'http-modern' ? { hangsUp: number } : {};
    this.#cancels.push({ at: number + 1 + cancelAfter, make: () => ({ ...cancel, ...hangsUp }) });
  }

  /** A call that ends only by cancellation: it has no answer, and the server receives both messages or neither. */
  #hanging(
    client: number,
    server: ServerName,
    wish: boolean,
  ): { readonly sent: Sent; readonly cancel: Sent } {
    const tag = `t${++this.#tags}`;
    const id = idText('number', this.#tags);
    const isModern = this.#isModern(client, wish);
    const params = { name: `${server}__slow`, arguments: { ms: 600_000, text: tag } };
    const full = isModern
      ? withEnvelope(params, {}, { [VENDOR]: tag })
      : { ...params, _meta: { [VENDOR]: tag } };
    const call: ServerCall = { server, kind: 'slow', tag, isCancelled: true };
    const base = { client, answers: [], progress: [], calls: [] };
    const headers = this.#headers(client, 'tools/call', params);
    const sent: Sent = { ...base, text: message(id, 'tools/call', full), headers, calls: [call] };
    const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
    const cancel: Sent = { ...base, text: cancelled, headers: this.#headers(client, '', {}), cancels: tag };
    return { sent, cancel };
  }

  #odd(client: number, step: Exclude<Step, { type: 'request' | 'twice' | 'batch' | 'slow' }>): Sent {
    const kind = this.#kinds[client];
    const base = { client, headers: this.#headers(client, '', {}), answers: [], progress: [], calls: [] };
    const id = idText('string', ++this.#tags);
    switch (step.type) {
      case 'invalid': {
        const { text, code, isKnown } = invalidText(step.kind, id);
        return { ...base, text, answers: [{ id: isKnown ? id : 'null', answer: { error: code } }] };
      }
      case 'unknown-method': {
        const isModern = this.#isModern(client, step.isModern);
        const text = message(id, step.method, isModern ? withEnvelope({}, {}) : {});
        const headers = this.#headers(client, step.method, {});
        // An empty method has no header, and the missing header is reported first.
        const code = kind === 'http-modern' && step.method === '' ? -32020 : -32601;
        return { ...base, text, headers, answers: [{ id, answer: { error: code } }] };
      }
      case 'envelope': {
        const { meta, code } = envelopeOf(step.kind);
        const text = message(id, 'tools/list', { _meta: meta });
        const version = meta[`${PREFIX}protocolVersion`];
        const headers =
          kind?.startsWith('http') === true ? modernHeaders('tools/list', {}, String(version)) : {};
        return { ...base, text, headers, answers: [{ id, answer: { error: code } }] };
      }
      case 'notification': {
        const { method } = step;
        const text = JSON.stringify({
          jsonrpc: '2.0',
          method,
          params: { progressToken: 'nobody', progress: 1 },
        });
        return { ...base, text, headers: this.#headers(client, method, {}) };
      }
      case 'cancel-nothing': {
        const requestId = `never-${this.#tags}`;
        return {
          ...base,
          text: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
        };
      }
      case 'stray-answer': {
        const rest = step.isError ? '"error":{"code":1,"message":"no"}' : '"result":{}';
        const text = `{"jsonrpc":"2.0","id":${id},${rest}}`;
        // Modern HTTP clients cannot send responses.
        const isRefused = kind === 'http-modern';
        return { ...base, text, answers: isRefused ? [{ id: 'null', answer: { error: -32600 } }] : [] };
      }
    }
  }

  #isModern(client: number, wish: boolean): boolean {
    const kind = this.#kinds[client];
    return kind === 'http-modern' || (kind?.startsWith('stdio') === true && wish);
  }

  #headers(client: number, method: string, params: JsonObject): Readonly<Record<string, string>> {
    return this.#kinds[client] === 'http-modern' ? modernHeaders(method, params) : {};
  }
}

function message(id: string, method: string, params: JsonObject): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

function idText(kind: IdKind, at: number): string {
  switch (kind) {
    case 'number':
      return String(1000 + at);
    case 'string':
      return JSON.stringify(String(1000 + at));
    case 'negative':
      return String(-at);
    case 'fraction':
      return `${at}.5`;
    case 'huge':
      return `1234567890123456789${at}`;
    case 'unicode':
      return JSON.stringify(`ü "${at}" \u2028 \\`);
  }
}

function tokenOf({ token }: Request, tag: string): string | number | object | undefined {
  if (token === 'string') return `token-${tag}`;
  if (token === 'number') return Number(tag.slice(1));
  return token === 'object' ? { not: 'a token' } : undefined;
}
