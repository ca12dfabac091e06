import { encode } from './raw-json.mjs';

/** One client: a stdio process, an HTTP session or an SSE connection, and what was agreed with it. */
export class Link {
  version;
  initialized = false;
  clientCapabilities = {};
  subscriptions = new Set();
  logLevel;
  /** Calls that run, by request id. */
  running = new Map();
  /** Open `subscriptions/listen` requests, by request id. */
  listens = new Map();
  /** Questions put to the client, by our id. */
  questions = new Map();
  // As the SDKs do, our ids start at 0 and so collide with the client's own.
  #nextId = 0;

  constructor({ id, announce, sessionless = false }) {
    this.id = id;
    /** Sends what belongs to no request. */
    this.announce = announce;
    this.sessionless = sessionless;
  }

  /** Puts a request to the client; `send` decides on which stream. */
  ask(method, params, send = this.announce) {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.questions.set(id, { resolve, reject });
      send(encode({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }));
    });
  }

  /** Takes the client's answer to a question of ours; false when there was none. */
  settle(message) {
    const question = this.questions.get(message.id);
    if (question === undefined) return false;
    this.questions.delete(message.id);
    if (message.error === undefined) question.resolve(message.result);
    else question.reject(Object.assign(new Error(message.error.message), { rpc: message.error }));
    return true;
  }
}
