import { createHmac, randomBytes } from 'node:crypto';

import { metaKeys } from './eras.mjs';
import { note } from './note.mjs';
import { encode } from './raw-json.mjs';
import { RpcError } from './rpc-error.mjs';

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const stateKey = randomBytes(32);
const capabilityOf = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Thrown to answer a modern call with `input_required` instead of a result. */
export class InputRequired extends Error {
  constructor(inputRequests, requestState) {
    super('Input is required.');
    this.result = { resultType: 'input_required', inputRequests, requestState };
  }
}

/** A request that is being served, with everything that a tool can do besides returning a result. */
export class Call {
  controller = new AbortController();
  #round = 0;

  constructor({ server, link, exchange, message, era }) {
    Object.assign(this, { server, link, exchange, era, id: message.id, method: message.method });
    this.params = message.params ?? {};
    this.meta = this.params._meta ?? {};
    this.signal = this.controller.signal;
  }

  cancel(reason) {
    this.controller.abort(reason);
  }

  /** Waits; a cancellation ends the wait. */
  pause(ms) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      this.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(new Error('cancelled'));
      });
    });
  }

  notify(method, params) {
    this.exchange.send(encode({ jsonrpc: '2.0', method, params }));
  }

  progress(progress, total, message) {
    if (this.meta.progressToken === undefined) return;
    this.notify('notifications/progress', {
      progressToken: this.meta.progressToken,
      progress,
      total,
      message,
    });
  }

  log(level, data, logger) {
    const least = this.era === 'modern' ? this.meta[metaKeys.logLevel] : (this.link.logLevel ?? 'debug');
    if (least === undefined || levels.indexOf(level) < levels.indexOf(least)) return;
    this.notify('notifications/message', { level, data, ...(logger !== undefined && { logger }) });
  }

  clientCapabilities() {
    return this.era === 'modern' ? this.meta[metaKeys.clientCapabilities] : this.link.clientCapabilities;
  }

  /**
   * Asks the client questions (`{ key: { method, params } }`) and returns its results by key. Legacy clients get
   * requests on the stream of the call. Modern clients get `input_required`, and the tool runs again from its start
   * with the answers so far, which are part of the request state.
   */
  async ask(questions) {
    for (const { method } of Object.values(questions)) this.#mustBeAble(capabilityOf[method]);
    if (this.era === 'modern') return this.#askByRetry(questions);
    const send = (text) => this.exchange.send(text);
    const answers = Object.entries(questions).map(async ([key, { method, params }]) => {
      note('asked', { method, call: this.id, link: this.link.id });
      return [key, await this.link.ask(method, params, send)];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  #askByRetry(questions) {
    const round = this.#round;
    this.#round += 1;
    const earlier = this.#earlierAnswers();
    if (round < earlier.length) return earlier[round];
    const answers = this.params.inputResponses;
    const complete = isObject(answers) && Object.keys(questions).every((key) => isObject(answers[key]));
    if (round === earlier.length && complete) {
      earlier.push(answers);
      this.params.inputResponses = undefined;
      this.answered = earlier;
      return answers;
    }
    note('asked', { methods: Object.values(questions).map(({ method }) => method), call: this.id });
    throw new InputRequired(questions, seal(JSON.stringify({ of: this.#digest(), earlier })));
  }

  #earlierAnswers() {
    if (this.answered !== undefined) return this.answered;
    if (this.params.requestState === undefined) return [];
    try {
      const state = JSON.parse(unseal(this.params.requestState));
      if (state.of === this.#digest()) return state.earlier;
    } catch {
      // Rejected below: we did not create a state that cannot be read.
    }
    throw new RpcError(-32602, 'The request state is not the one that was given.');
  }

  #digest() {
    return `${this.method} ${this.params.name ?? this.params.uri} ${JSON.stringify(this.params.arguments ?? {})}`;
  }

  #mustBeAble(capability) {
    if (this.clientCapabilities()?.[capability] !== undefined) return;
    if (this.era === 'modern') {
      throw new RpcError(-32021, 'The client lacks a capability that this call needs.', {
        data: { requiredCapabilities: { [capability]: {} } },
        status: 400,
      });
    }
    throw new Error(`The client does not support ${capability}.`);
  }
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The client holds the state and must not be able to change it. */
function seal(text) {
  const body = Buffer.from(text).toString('base64url');
  return `${body}.${createHmac('sha256', stateKey).update(body).digest('base64url')}`;
}

function unseal(state) {
  const body = state.split('.', 1)[0];
  const text = Buffer.from(body, 'base64url').toString();
  if (seal(text) !== state) throw new Error('not ours');
  return text;
}
