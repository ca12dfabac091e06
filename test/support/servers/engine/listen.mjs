import { createServer } from 'node:http';

import { serveHttp } from './http.mjs';
import { listenOnLoopback } from './loopback.mjs';
import { note } from './note.mjs';
import { serveSse } from './sse.mjs';

/** Opens the listener of a fixture: Streamable HTTP at `/mcp`, or HTTP+SSE at `/sse`. */
export async function listen(server, transport) {
  const { options } = server;
  const serveRequest = transport === 'http' ? serveHttp(server) : serveSse(server);
  const listener = createServer((request, response) => {
    note('http', { method: request.method, url: request.url, headers: request.headers });
    if (server.definition.checksHost === true && !isLocal(request.headers)) {
      response.writeHead(403).end('Only for this machine.');
      return;
    }
    if (options.has('bearer') && request.headers.authorization !== `Bearer ${options.text('bearer')}`) {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="fixture"' }).end('No.');
      return;
    }
    serveRequest(request, response);
  });
  await listenOnLoopback(listener, options, {
    port: options.text(transport),
    path: transport === 'http' ? '/mcp' : '/sse',
  });
}

/** Rejects web pages (DNS rebinding) by their Host and Origin headers. */
function isLocal({ host = '', origin }) {
  return loopback.test(host) && (origin === undefined || loopback.test(origin.replace(/^https?:\/\//, '')));
}

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
