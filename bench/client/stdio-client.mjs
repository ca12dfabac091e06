import { idOf, resultOf, textOf } from './answer.mjs';
import { initializeBody, initializedMessage, requestBody } from './requests.mjs';

/** A raw MCP client on the standard streams of a child: one write for all that is asked in answer to one chunk. */
export function stdioClient({ stdin, stdout }) {
  const waiting = new Map();
  let pending = [];
  let lastId = 0;
  let out = '';
  let isReading = false;

  const write = (text) => {
    if (isReading) out += text;
    else stdin.write(text);
  };

  const deliver = (answer) => {
    const id = idOf(answer);
    const onAnswer = waiting.get(id);
    waiting.delete(id);
    onAnswer?.(answer);
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

  /** Asks without a promise; `onAnswer` gets the bytes. */
  const call = (body, onAnswer) => {
    waiting.set(++lastId, onAnswer);
    write(`{"jsonrpc":"2.0","id":${lastId},${body}\n`);
  };

  const ask = (body) => new Promise((resolve) => call(body, (answer) => resolve(textOf(answer))));

  return {
    call,
    async open() {
      resultOf(await ask(initializeBody));
      write(`${initializedMessage}\n`);
    },
    /** Parsed result of one request; for what is not measured per call. */
    async request(method, params = {}) {
      return resultOf(await ask(requestBody(method, params)));
    },
    close: () => stdin.end(),
  };
}
