import { connect } from 'node:net';

import { resultOf, textOf } from './answer.mjs';
import {
  PROTOCOL_VERSION,
  initializeBody,
  initializedMessage,
  modernHeaders,
  modernParams,
  requestBody,
} from './requests.mjs';
import { responseReader } from './response-reader.mjs';

/**
 * A raw MCP client over HTTP: a socket for each call in flight, kept alive. `node:http` would be the bottleneck.
 * `onError` is called when a connection breaks. A client of the `modern` era has no handshake and no session.
 */
export function httpClient(address, onError, { era = 'legacy' } = {}) {
  const url = new URL(address);
  const connections = new Set();
  let idle = [];
  let lastId = 0;
  let sessionHeaders = '';
  const isModern = era === 'modern';
  /** Built once per body, because all bodies of a load are equal. */
  const headersByBody = new Map();

  const newConnection = () => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    const connection = { socket, onResponse: undefined };
    const read = responseReader((response) => connection.onResponse?.(response));
    socket.on('data', (chunk) => {
      try {
        read(chunk);
      } catch (error) {
        onError(error);
      }
    });
    socket.on('error', onError);
    socket.on('close', () => {
      connections.delete(connection);
      idle = idle.filter((other) => other !== connection);
      if (connection.onResponse !== undefined) onError(new Error('the connection ended during a call'));
    });
    connections.add(connection);
    return connection;
  };

  const headersFor = (body) => {
    if (!isModern) return sessionHeaders;
    const known = headersByBody.get(body) ?? modernHeaders(body);
    headersByBody.set(body, known);
    return known;
  };

  const post = (message, headers, onResponse) => {
    const connection = idle.pop() ?? newConnection();
    connection.onResponse = (response) => {
      connection.onResponse = undefined;
      idle.push(connection);
      onResponse(response);
    };
    connection.socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
        `Accept: application/json, text/event-stream\r\n${headers}` +
        `Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
    );
  };

  const numbered = (body) => `{"jsonrpc":"2.0","id":${++lastId},${body}`;
  const posted = (message, headers) => new Promise((resolve) => post(message, headers, resolve));
  const ask = async (body) => {
    const response = await posted(numbered(body), headersFor(body));
    return { ...response, result: resultOf(textOfResponse(response)) };
  };

  return {
    call: (body, onAnswer) => post(numbered(body), headersFor(body), ({ answer }) => onAnswer(answer)),
    async open() {
      if (isModern) return undefined;
      const { headers, result } = await ask(initializeBody);
      const session = /^mcp-session-id: *(\S+)/im.exec(headers)?.[1];
      sessionHeaders = `MCP-Protocol-Version: ${PROTOCOL_VERSION}\r\n`;
      if (session !== undefined) sessionHeaders += `Mcp-Session-Id: ${session}\r\n`;
      await posted(initializedMessage, sessionHeaders);
      return result;
    },
    get session() {
      return sessionHeaders;
    },
    /** Continues the session of another client, possibly at another gateway. */
    goOn(session) {
      sessionHeaders = session;
    },
    async request(method, params = {}) {
      const { result } = await ask(requestBody(method, isModern ? modernParams(params) : params));
      return result;
    },
    close() {
      for (const connection of connections) {
        connection.onResponse = undefined;
        connection.socket.destroy();
      }
    },
  };
}

/** The event stream of a request ends with its answer. */
function textOfResponse({ headers, answer }) {
  if (!/^content-type: *text\/event-stream/im.test(headers)) return textOf(answer);
  const lines = textOf(answer).split(/\r?\n/);
  const last = lines.findLast((line) => line.startsWith('data:'));
  return last?.slice(5) ?? '{}';
}
