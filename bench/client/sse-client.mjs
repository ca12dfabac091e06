import { connect } from 'node:net';

import { idOf, resultOf, textOf } from './answer.mjs';
import { initializeBody, initializedMessage, requestBody } from './requests.mjs';
import { responseReader } from './response-reader.mjs';

const FRESH_MS = 2000;

/** A raw MCP client over the older HTTP+SSE: requests are posted, and all answers arrive on one stream. `onError` as in `httpClient`. */
export function sseClient(address, onError) {
  const url = new URL(address);
  const waiting = new Map();
  const connections = new Set();
  let idle = [];
  let lastId = 0;
  let postPath;
  let opened;

  const socketTo = (onData) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    socket.on('error', onError);
    socket.on('data', (chunk) => {
      try {
        onData(chunk);
      } catch (error) {
        onError(error);
      }
    });
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    return socket;
  };

  const takeEvent = (lines) => {
    const event = lines
      .find((line) => line.startsWith('event:'))
      ?.slice(6)
      .trim();
    const dataAt = lines.find((line) => line.startsWith('data:'));
    if (dataAt === undefined) return;
    const data = dataAt.slice(dataAt[5] === ' ' ? 6 : 5);
    if (event === 'endpoint') {
      const posted = new URL(data, address);
      postPath = posted.pathname + posted.search;
      opened();
      return;
    }
    const answer = [Buffer.from(data)];
    const id = idOf(answer);
    const onAnswer = waiting.get(id);
    waiting.delete(id);
    onAnswer?.(answer);
  };

  const post = (message) => {
    // The server may be closing a connection that was idle for long.
    const fresh = idle.filter(({ since }) => performance.now() - since < FRESH_MS);
    const socket = fresh.pop()?.socket ?? postingSocket();
    idle = fresh;
    socket.write(
      `POST ${postPath} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
    );
  };

  const postingSocket = () => {
    const read = responseReader(() => idle.push({ socket, since: performance.now() }));
    const socket = socketTo(read);
    socket.on('close', () => (idle = idle.filter((other) => other.socket !== socket)));
    return socket;
  };

  const call = (body, onAnswer) => {
    waiting.set(++lastId, onAnswer);
    post(`{"jsonrpc":"2.0","id":${lastId},${body}`);
  };
  const ask = (body) => new Promise((resolve) => call(body, (answer) => resolve(textOf(answer))));

  return {
    call,
    async open() {
      const isOpen = new Promise((resolve) => (opened = resolve));
      const stream = socketTo(eventReader(takeEvent));
      stream.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\n\r\n`);
      await isOpen;
      const result = resultOf(await ask(initializeBody));
      post(initializedMessage);
      return result;
    },
    async request(method, params = {}) {
      return resultOf(await ask(requestBody(method, params)));
    },
    close() {
      for (const socket of connections) socket.destroy();
    },
  };
}

/** Reads an event stream, chunked or plain, and passes on the lines of each event. */
export function eventReader(onEvent) {
  let head = '';
  let isBody = false;
  let isChunked = false;
  let left = 0;
  let bytes = Buffer.alloc(0);
  let pieces = [];

  const takeText = (text) => {
    pieces.push(text);
    if (!text.includes('\n')) return;
    const events = pieces.join('').split(/\r?\n\r?\n/);
    pieces = [events.pop()];
    for (const event of events) onEvent(event.split(/\r?\n/));
  };

  const takeChunks = () => {
    for (;;) {
      if (left === 0) {
        const at = bytes.indexOf('\r\n');
        if (at === -1) return;
        const size = bytes.latin1Slice(0, at);
        bytes = bytes.subarray(at + 2);
        left = size === '' ? 0 : Number.parseInt(size, 16);
        if (size !== '' && left === 0) return;
        continue;
      }
      if (bytes.length === 0) return;
      const part = bytes.subarray(0, left);
      bytes = bytes.subarray(part.length);
      left -= part.length;
      takeText(part.latin1Slice());
    }
  };

  return (chunk) => {
    if (!isBody) {
      head += chunk.latin1Slice();
      const at = head.indexOf('\r\n\r\n');
      if (at === -1) return;
      if (head.slice(9, 12) !== '200') throw new Error(`HTTP status ${head.slice(9, 12)}`);
      isBody = true;
      isChunked = /^transfer-encoding: *chunked/im.test(head.slice(0, at));
      chunk = Buffer.from(head.slice(at + 4), 'latin1');
    }
    if (!isChunked) return takeText(chunk.latin1Slice());
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    return takeChunks();
  };
}
