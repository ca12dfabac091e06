import { createGzip } from 'node:zlib';

/** An SSE stream; a resumable one can outlive its connection. */
export class EventStream {
  events = [];
  #sink;
  #response;
  #ended = false;

  constructor({ name, resumable = false, retryMs }) {
    this.name = name;
    this.resumable = resumable;
    this.retryMs = retryMs;
  }

  /** Sends the stream as this response, starting after `lastEventId`. */
  attach(response, { lastEventId, gzip = false, headers = {} } = {}) {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...(gzip && { 'content-encoding': 'gzip' }),
      ...headers,
    });
    response.flushHeaders();
    this.#response = response;
    this.#sink = gzip ? gzipInto(response) : (text) => response.write(text);
    response.on('close', () => {
      if (this.#response === response) this.#sink = undefined;
    });
    const from = lastEventId === undefined ? 0 : Number(lastEventId.split('/')[1]) + 1;
    for (const event of this.events.slice(from)) this.#sink(event);
    if (this.#ended) this.#close();
  }

  /** Sends an event with an id and no data, from which a client can resume. */
  prime() {
    this.#put('', this.retryMs === undefined ? '' : `retry: ${this.retryMs}\n`);
  }

  send(text) {
    this.#put(`event: message\n`, '', text);
  }

  #put(head, tail, data = '') {
    const id = this.resumable ? `id: ${this.name}/${this.events.length}\n` : '';
    const event = `${id}${head}${tail}data: ${data}\n\n`;
    if (this.resumable) this.events.push(event);
    this.#sink?.(event);
  }

  /** Ends the connection but not the stream, normally or by breaking it. */
  cut(abruptly) {
    const response = this.#response;
    this.#sink = undefined;
    // Waits until the previous event has arrived, because a reset would discard it.
    if (abruptly) setTimeout(() => response?.destroy(), 20);
    else response?.end();
  }

  end() {
    this.#ended = true;
    this.#close();
  }

  #close() {
    if (this.#sink === undefined) return;
    if (this.#sink.end === undefined) this.#response.end();
    else this.#sink.end();
    this.#sink = undefined;
  }
}

function gzipInto(response) {
  const gzip = createGzip();
  gzip.pipe(response);
  const sink = (text) => {
    gzip.write(text);
    // Without the flush, an event would stay in the buffer until it holds 16 KB.
    gzip.flush();
  };
  sink.end = () => gzip.end();
  return sink;
}
