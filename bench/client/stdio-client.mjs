import { idOf, resultOf, textOf } from './answer.mjs';
import { initializeBody, initializedMessage, modernParams, requestBody } from './requests.mjs';

/**
 * A raw MCP client on the standard streams of a child; requests that one chunk of answers triggers go out in one write.
 * `onNotification` receives the text of notifications; a client of the `modern` era has no handshake.
 */
export function stdioClient({ stdin, stdout }, { onNotification, era = 'legacy' } = {}) {
  const waiting = new Map();
  let pending = [];
  let lastId = 0;
  let out = '';
  let isReading = false;
  const isModern = era === 'modern';

  const write = (text) => {
    if (isReading) out += text;
    else stdin.write(text);
  };

  const deliver = (answer) => {
    const id = idOf(answer);
    if (Number.isNaN(id)) return onNotification?.(textOf(answer));
    const onAnswer = waiting.get(id);
    waiting.delete(id);
    return onAnswer?.(answer);
  };

  stdout.on('data', (chunk) => {
    isReading = true;
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const last = chunk.subarray(start, end);
      deliver(pending.length === 0 ? [last] : [...pending, last]);
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
    isReading = false;
    if (out === '') return;
    stdin.write(out);
    out = '';
  });

  /** Sends a request without a promise; `onAnswer` receives the bytes. */
  const call = (body, onAnswer) => {
    waiting.set(++lastId, onAnswer);
    write(`{"jsonrpc":"2.0","id":${lastId},${body}\n`);
  };

  const ask = (body) => new Promise((resolve) => call(body, (answer) => resolve(textOf(answer))));

  return {
    call,
    async open() {
      if (isModern) return undefined;
      const result = resultOf(await ask(initializeBody));
      write(`${initializedMessage}\n`);
      return result;
    },
    /** Returns the parsed result of one request; for calls that are not measured. */
    async request(method, params = {}) {
      return resultOf(await ask(requestBody(method, isModern ? modernParams(params) : params)));
    },
    close: () => stdin.end(),
  };
}
