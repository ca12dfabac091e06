import { connect } from 'node:net';

import { resultOf, textOf } from './answer.mjs';
import { PROTOCOL_VERSION, initializeBody, initializedMessage, requestBody } from './requests.mjs';
import { responseReader } from './response-reader.mjs';

/**
 * A raw MCP client over HTTP: a socket for each call in flight, kept alive. `node:http` would be the bottleneck.
 * `onError` hears of a connection that broke.
 */
export function httpClient(address, onError) {
  const url = new URL(address);
  const connections = new Set();
  let idle = [];
  let lastId = 0;
  let sessionHeaders = '';

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

  const post = (message, onResponse) => {
    const connection = idle.pop() ?? newConnection();
    connection.onResponse = (response) => {
      connection.onResponse = undefined;
      idle.push(connection);
      onResponse(response);
    };
    connection.socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
        `Accept: application/json, text/event-stream\r\n${sessionHeaders}` +
        `Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
    );
  };

  const numbered = (body) => `{"jsonrpc":"2.0","id":${++lastId},${body}`;
  const posted = (message) => new Promise((resolve) => post(message, resolve));

  return {
    call: (body, onAnswer) => post(numbered(body), ({ answer }) => onAnswer(answer)),
    async open() {
      const { headers } = await posted(numbered(initializeBody));
      const session = /^mcp-session-id: *(\S+)/im.exec(headers)?.[1];
      sessionHeaders = `MCP-Protocol-Version: ${PROTOCOL_VERSION}\r\n`;
      if (session !== undefined) sessionHeaders += `Mcp-Session-Id: ${session}\r\n`;
      await posted(initializedMessage);
    },
    async request(method, params = {}) {
      const { headers, answer } = await posted(numbered(requestBody(method, params)));
      return resultOf(
        /^content-type: *text\/event-stream/im.test(headers) ? lastEvent(answer) : textOf(answer),
      );
    },
    close() {
      for (const connection of connections) {
        connection.onResponse = undefined;
        connection.socket.destroy();
      }
    },
  };
}

/** An event stream for a request ends with its answer. */
function lastEvent(answer) {
  const lines = textOf(answer).split(/\r?\n/);
  return (
    lines
      .filter((line) => line.startsWith('data:'))
      .at(-1)
      ?.slice(5) ?? '{}'
  );
}
