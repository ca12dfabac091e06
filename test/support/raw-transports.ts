import type { ChildProcessByStdio } from 'node:child_process';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Readable, Writable } from 'node:stream';

import { sseReader } from './sse-events.ts';

export type Transport = 'stdio' | 'http' | 'sse';
export type StdioChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** A peer answered with a status instead of a message. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;

  constructor(status: number, headers: IncomingHttpHeaders, body: string) {
    super(`HTTP ${status}: ${body.slice(0, 500)}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborting it closes the response stream, if there is one. */
  readonly signal?: AbortSignal;
}

/** Sends and receives texts without parsing them. */
export interface RawTransport {
  readonly kind: Transport;
  /** Starts to deliver texts to `take`, which returns whether the text was expected. `lost` reports an unexpected end. */
  start(take: (text: string, status?: number) => boolean, lost: (error: Error) => void): Promise<void>;
  /** Resolves when the text is written; over HTTP, when its response has ended. */
  send(text: string, options: SendOptions): Promise<void>;
  /** HTTP only: opens the stream for messages that belong to no request. */
  openStream?(headers: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

export function stdioTransport(child: StdioChild): RawTransport {
  let closing = false;
  return {
    kind: 'stdio',
    async start(take, lost) {
      let rest: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => {
        let from = 0;
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
          rest.push(chunk.subarray(from, at));
          const line = Buffer.concat(rest).toString('utf8').replace(/\r$/, '');
          rest = [];
          from = at + 1;
          if (line !== '') take(line);
        }
        if (from < chunk.length) rest.push(chunk.subarray(from));
      });
      child.stdin.on('error', lost);
      // Every concurrent call waits for `drain`.
      child.stdin.setMaxListeners(0);
      child.once('exit', (code, signal) => {
        if (!closing) lost(new Error(`The process ended with ${signal ?? code}.`));
      });
    },
    async send(text) {
      if (!child.stdin.write(`${text}\n`)) await new Promise((resolve) => child.stdin.once('drain', resolve));
    },
    async close() {
      closing = true;
      child.stdin.end();
    },
  };
}

/** `given` contains headers for every request, for example the key of a caller. */
export function httpTransport(url: string, given: Readonly<Record<string, string>> = {}): RawTransport {
  const agent = new Agent({ keepAlive: true });
  const streams = new Set<IncomingMessage>();
  let session: string | undefined;
  let deliver: (text: string, status?: number) => boolean = () => true;
  const always = (): Record<string, string> => ({
    ...given,
    ...(session !== undefined && { 'mcp-session-id': session }),
  });
  const readEvents = (response: IncomingMessage): Promise<void> => {
    streams.add(response);
    const read = sseReader(({ event, data }) => {
      if (event === 'message' && data !== '') deliver(data, response.statusCode);
    });
    response.setEncoding('utf8').on('data', read);
    return new Promise((resolve) => {
      // Readers treat a broken stream like an ended one; the pending request reports the missing answer.
      response.on('error', () => {});
      response.on('close', () => {
        streams.delete(response);
        resolve();
      });
    });
  };
  return {
    kind: 'http',
    async start(take) {
      deliver = take;
    },
    async send(text, { headers, signal }) {
      const accept = 'application/json, text/event-stream';
      const all = { 'content-type': 'application/json', accept, ...always(), ...headers };
      const response = await openHttp({
        url,
        method: 'POST',
        headers: all,
        body: text,
        agent,
        ...(signal && { signal }),
      });
      session = headerOf(response, 'mcp-session-id') ?? session;
      if (isEventStream(response)) {
        await readEvents(response);
        return;
      }
      const body = await readBody(response);
      const status = response.statusCode ?? 0;
      if (/^\s*[[{]/.test(body) && deliver(body, status)) return;
      if (status >= 300) throw new HttpError(status, response.headers, body);
    },
    async openStream(headers) {
      const all = { accept: 'text/event-stream', ...always(), ...headers };
      const response = await openHttp({ url, method: 'GET', headers: all, agent });
      if (!isEventStream(response))
        throw new HttpError(response.statusCode ?? 0, response.headers, await readBody(response));
      void readEvents(response);
    },
    async close() {
      for (const stream of streams) stream.destroy();
      if (session !== undefined) {
        // Best effort: the gateway may be gone, and its sessions with it.
        await openHttp({ url, method: 'DELETE', headers: always(), agent })
          .then(readBody)
          .catch(() => {});
      }
      agent.destroy();
    },
  };
}

export function sseTransport(url: string): RawTransport {
  const agent = new Agent({ keepAlive: true });
  let stream: IncomingMessage | undefined;
  let endpoint = '';
  let closing = false;
  return {
    kind: 'sse',
    async start(take, lost) {
      const response = await openHttp({
        url,
        method: 'GET',
        headers: { accept: 'text/event-stream' },
        agent,
      });
      if (!isEventStream(response))
        throw new HttpError(response.statusCode ?? 0, response.headers, await readBody(response));
      stream = response;
      response.on('error', () => {});
      response.on('close', () => {
        if (!closing) lost(new Error('The event stream ended.'));
      });
      await new Promise<void>((resolve) => {
        const read = sseReader(({ event, data }) => {
          if (event === 'message') take(data);
          if (event !== 'endpoint') return;
          endpoint = new URL(data, url).href;
          resolve();
        });
        response.setEncoding('utf8').on('data', read);
      });
    },
    async send(text, { headers }) {
      const all = { 'content-type': 'application/json', ...headers };
      const response = await openHttp({ url: endpoint, method: 'POST', headers: all, body: text, agent });
      const body = await readBody(response);
      const status = response.statusCode ?? 0;
      if (status >= 300) throw new HttpError(status, response.headers, body);
    },
    async close() {
      closing = true;
      stream?.destroy();
      agent.destroy();
    },
  };
}

interface OpenOptions extends SendOptions {
  readonly url: string;
  readonly method: string;
  readonly body?: string;
  readonly agent: Agent;
}

/** Sends an HTTP request and resolves with the head of its response. */
export function openHttp({
  url,
  method,
  headers,
  body,
  agent,
  signal,
}: OpenOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers: { ...headers }, agent, ...(signal && { signal }) },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function isEventStream(response: IncomingMessage): boolean {
  return response.headers['content-type']?.startsWith('text/event-stream') === true;
}

function headerOf(response: IncomingMessage, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
