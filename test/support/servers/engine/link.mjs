import { encode } from './raw-json.mjs';

/** One client (a stdio process, an HTTP session or an SSE connection) with its negotiated version and capabilities. */
export class Link {
  version;
  initialized = false;
  clientCapabilities = {};
  subscriptions = new Set();
  logLevel;
  /** Running calls by request id. */
  running = new Map();
  /** Open `subscriptions/listen` requests, by request id. */
  listens = new Map();
  /** Pending requests to the client by our id. */
  questions = new Map();
  // Our ids start at 0, like those of the SDKs, and so collide with the client's own.
  #nextId = 0;

  constructor({ id, announce, sessionless = false }) {
    this.id = id;
    /** Sends messages that belong to no request. */
    this.announce = announce;
    this.sessionless = sessionless;
  }

  /** Sends a request to the client; `send` selects the stream. */
  ask(method, params, send = this.announce) {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.questions.set(id, { resolve, reject });
      send(encode({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }));
    });
  }

  /** Handles the client's answer to a request of ours; returns false if there is no such request. */
  settle(message) {
    const question = this.questions.get(message.id);
    if (question === undefined) return false;
    this.questions.delete(message.id);
    if (message.error === undefined) question.resolve(message.result);
    else question.reject(Object.assign(new Error(message.error.message), { rpc: message.error }));
    return true;
  }
}
