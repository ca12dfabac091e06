import { createGzip } from 'node:zlib';

/** One SSE stream, which can outlive the connection that carries it when it is resumable. */
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

  /** Lets a response carry the stream, from the event after `lastEventId` on. */
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

  /** An event with an id and no data, after which a client knows how to come back. */
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

  /** Ends the connection but not the stream: politely, or as a broken network does. */
  cut(abruptly) {
    const response = this.#response;
    this.#sink = undefined;
    // The event that went before is given the time to arrive; a reset would take it along.
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
    // Without the flush an event would wait for the next 16 KB.
    gzip.flush();
  };
  sink.end = () => gzip.end();
  return sink;
}
