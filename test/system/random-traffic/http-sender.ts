import { sseReader } from '../../support/sse-events.ts';
import type { Sent } from './model.ts';
import type { ClientKind } from './traffic.ts';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sends the texts of HTTP clients, each in its own request. */
export class HttpSender {
  readonly #url: string;
  readonly #kinds: readonly ClientKind[];
  readonly #received = new Map<number, string[]>();
  readonly #sessions = new Map<number, Record<string, string>>();
  /** POST endpoints of the HTTP+SSE clients. */
  readonly #endpoints = new Map<number, string>();
  readonly #open = new Map<number, AbortController>();
  readonly #streams: AbortController[] = [];

  constructor(url: string, kinds: readonly ClientKind[]) {
    this.#url = url;
    this.#kinds = kinds;
  }

  async open(client: number, protocolVersion: string): Promise<void> {
    this.#received.set(client, []);
    const kind = this.#kinds[client];
    if (kind === 'http-modern') return;
    if (kind === 'sse') await this.#listen(client);
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'open', method: 'initialize', params });
    const response = await fetch(this.#target(client), { method: 'POST', headers: HEADERS, body });
    await response.text();
    const session = response.headers.get('mcp-session-id');
    if (session !== null) this.#sessions.set(client, { 'mcp-session-id': session });
    while (kind === 'sse' && this.received(client).length === 0) await new Promise(setImmediate);
    this.#received.set(client, []);
  }

  send(number: number, { client, text, headers }: Sent): void {
    const controller = new AbortController();
    this.#open.set(number, controller);
    const { signal } = controller;
    const all = { ...HEADERS, ...this.#sessions.get(client), ...headers };
    fetch(this.#target(client), { method: 'POST', headers: all, body: text, signal })
      .then((response) => this.#read(client, response))
      // A client that hangs up gets no answer; the model finds any other missing answer.
      .catch(() => {});
  }

  hangUp(number: number): void {
    this.#open.get(number)?.abort();
  }

  received(client: number): readonly string[] {
    return this.#received.get(client) ?? [];
  }

  close(): void {
    for (const controller of [...this.#open.values(), ...this.#streams]) controller.abort();
  }

  #target(client: number): string {
    return this.#endpoints.get(client) ?? this.#url;
  }

  async #listen(client: number): Promise<void> {
    const controller = new AbortController();
    this.#streams.push(controller);
    const address = new URL('/sse', this.#url);
    const response = await fetch(address, {
      headers: { accept: 'text/event-stream' },
      signal: controller.signal,
    });
    const endpoint = new Promise<void>((resolve) => {
      const read = sseReader(({ event, data }) => {
        if (event !== 'endpoint') return this.#take(client, data);
        this.#endpoints.set(client, new URL(data, address).href);
        resolve();
      });
      this.#pump(response, read).catch(() => {});
    });
    await endpoint;
  }

  async #read(client: number, response: Response): Promise<void> {
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
      await this.#pump(
        response,
        sseReader(({ data }) => this.#take(client, data)),
      );
      return;
    }
    const text = await response.text();
    if (text.startsWith('[')) for (const one of elements(text)) this.#take(client, one);
    else this.#take(client, text);
  }

  async #pump(response: Response, read: (chunk: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) read(decoder.decode(chunk, { stream: true }));
  }

  #take(client: number, text: string): void {
    if (text !== '') this.#received.get(client)?.push(text);
  }
}

/** Splits the response to a batch into its elements without parsing them: each begins with the same text. */
function elements(text: string): readonly string[] {
  return text
    .slice(1, -1)
    .split(/,(?=\{"jsonrpc":"2\.0","id":)/)
    .filter((one) => one !== '');
}
