import { gzipSync } from 'node:zlib';

import { EventStream } from './event-stream.mjs';
import { takesGzip } from './headers.mjs';

let opened = 0;

/**
 * One POST and its response: JSON, unless a message precedes the answer or `--answer sse` requests a stream.
 * `--answer json` never opens a stream and drops messages before the answer.
 */
export class PostExchange {
  headers = {};
  request;
  response;
  options;
  #stream;
  session;
  cut;
  #answered = false;

  constructor({ request, response, server, session }) {
    this.request = request;
    this.response = response;
    this.options = server.options;
    this.session = session;
    this.cut = server.definition.cutsStreams;
  }

  /** The request is valid and will be served; from now on, a lost connection can be a cancellation. */
  begin(message, era, cancel) {
    if (era === 'modern') {
      this.response.on('close', () => {
        if (!this.#answered) cancel('stream closed');
      });
    }
    const resumable = era === 'legacy' && this.cut !== undefined;
    const streams = this.options.text('answer') === 'sse' || message.method === 'subscriptions/listen';
    if (!streams && !resumable) return;
    const stream = this.#open(resumable);
    if (!resumable) return;
    stream.prime();
    if (message.method === 'tools/call') stream.cut(this.cut === 'abrupt');
  }

  send(text) {
    if (this.options.text('answer') !== 'json' || this.#stream !== undefined) this.#open().send(text);
  }

  answer(text, status = 200) {
    this.#answered = true;
    if (this.#stream !== undefined) {
      this.#stream.send(text);
      this.#stream.end();
      return;
    }
    const gzip = takesGzip(this.request, this.options);
    this.response.writeHead(status, {
      'content-type': 'application/json',
      ...(gzip && { 'content-encoding': 'gzip' }),
      ...this.headers,
    });
    this.response.end(gzip ? gzipSync(text) : text);
  }

  /** Accepts a notification or an answer of the client. */
  accept() {
    this.#answered = true;
    this.response.writeHead(202).end();
  }

  #open(resumable = false) {
    if (this.#stream !== undefined) return this.#stream;
    opened += 1;
    this.#stream = new EventStream({ name: `post-${opened}`, resumable, retryMs: 50 });
    this.session?.streams.set(this.#stream.name, this.#stream);
    const gzip = takesGzip(this.request, this.options);
    this.#stream.attach(this.response, { gzip, headers: this.headers });
    return this.#stream;
  }
}
