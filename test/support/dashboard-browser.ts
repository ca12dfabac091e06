import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { waitForValue } from './eventually.ts';
import { sendMcpRequest, openMcpResponse } from './mcp-requests.ts';
import { type SseEvent, sseReader } from './sse-events.ts';

type Headers = Readonly<Record<string, string>>;

interface BrowserResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly json: unknown;
  readonly text: string;
}

/** Imitates a browser at the dashboard: keeps its cookie and sends the headers that browsers add. */
export class DashboardBrowser {
  readonly origin: string;
  cookie: string | undefined;

  constructor(url: string) {
    this.origin = new URL(url).origin;
  }

  /** Opens a URL that a person typed or clicked. */
  async visit(url: string, headers: Headers = {}): Promise<BrowserResponse> {
    return this.#answer(new URL(url, this.origin).href, {
      headers: { 'sec-fetch-site': 'none', ...headers },
    });
  }

  /** Sends a request as a page of the dashboard does. */
  fetch(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<BrowserResponse> {
    const own = { 'sec-fetch-site': 'same-origin', ...(method !== 'GET' && this.#changing()) };
    return this.#answer(`${this.origin}${path}`, { method, headers: { ...own, ...headers }, body });
  }

  /** Calls a tool and returns its events, including questions. */
  async call(name: string, args: object): Promise<EventLog> {
    const own = { accept: 'text/event-stream', 'sec-fetch-site': 'same-origin' };
    const headers = { ...own, ...this.#changing(), ...this.#cookies() };
    return EventLog.waitFor(
      await openMcpResponse(`${this.origin}/api/call`, { headers, body: { name, args, asks: true } }),
    );
  }

  /** Opens `/api/events`. */
  async events(headers: Headers = {}): Promise<EventLog> {
    const own = { accept: 'text/event-stream', 'sec-fetch-site': 'same-origin', ...this.#cookies() };
    return EventLog.waitFor(
      await openMcpResponse(`${this.origin}/api/events`, { headers: { ...own, ...headers } }),
    );
  }

  async #answer(
    url: string,
    question: { method?: string; headers: Headers; body?: unknown },
  ): Promise<BrowserResponse> {
    const { status, headers, text } = await sendMcpRequest(url, {
      ...question,
      headers: { ...this.#cookies(), ...question.headers },
    });
    const [set] = headers['set-cookie'] ?? [];
    if (set !== undefined) this.cookie = set.includes('Max-Age=0') ? undefined : set.split(';')[0];
    const isJson = headers['content-type']?.startsWith('application/json') === true;
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  #changing(): Headers {
    return { origin: this.origin, 'x-trunkline': '1' };
  }

  #cookies(): Headers {
    return this.cookie === undefined ? {} : { cookie: this.cookie };
  }
}

/** Records the events of one connection in order. */
export class EventLog implements Disposable {
  readonly events: SseEvent[] = [];
  isClosed = false;
  readonly #response: IncomingMessage;

  private constructor(response: IncomingMessage) {
    this.#response = response;
  }

  static waitFor(response: IncomingMessage): EventLog {
    if (response.statusCode !== 200) throw new Error(`The stream was answered with ${response.statusCode}.`);
    const log = new EventLog(response);
    const read = sseReader((event) => log.events.push(event));
    response.setEncoding('utf8').on('data', (text: string) => read(text));
    response.on('error', () => {}); // `close` follows.
    response.on('close', () => (log.isClosed = true));
    return log;
  }

  /** Waits for the first event with this name whose data matches. */
  async of(name: string, isIt: (data: never) => boolean = () => true): Promise<SseEvent> {
    const search = (): SseEvent | undefined =>
      this.events.find(({ event, data }) => event === name && isIt(JSON.parse(data) as never));
    return waitForValue(search, { what: `the event ${name}`, withinMs: 15_000 });
  }

  [Symbol.dispose](): void {
    this.#response.destroy();
  }
}

/** Returns the admin key of a running gateway. */
export function readAdminKey(home: string): string {
  return readFileSync(join(home, 'state', 'run', 'admin.key'), 'utf8').trim();
}

/** Returns a browser that has signed in with a link. */
export async function openSignedInBrowser(gateway: {
  readonly url: string;
  readonly home: string;
}): Promise<DashboardBrowser> {
  const browser = new DashboardBrowser(gateway.url);
  const entered = await browser.visit(await createSignInLink(gateway));
  if (entered.status !== 303)
    throw new Error(`The link was answered with ${entered.status}: ${entered.text}`);
  return browser;
}

export async function createSignInLink(gateway: {
  readonly url: string;
  readonly home: string;
}): Promise<string> {
  const headers = { authorization: `Bearer ${readAdminKey(gateway.home)}` };
  const { text } = await sendMcpRequest(new URL('/api/session/link', gateway.url).href, {
    method: 'POST',
    headers,
    body: {},
  });
  return (JSON.parse(text) as { url: string }).url;
}
