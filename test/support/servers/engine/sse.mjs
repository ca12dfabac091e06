import { randomUUID } from 'node:crypto';

import { bodyOf, cutOff } from './http.mjs';
import { Link } from './link.mjs';
import { note } from './note.mjs';

/** Serves the HTTP+SSE transport of 2024-11-05: all messages of the server are sent on one stream. */
export function serveSse(server) {
  const links = new Map();
  return (request, response) => {
    const url = new URL(request.url, 'http://fixture');
    if (request.method === 'GET' && url.pathname === '/sse') {
      open(server, links, response);
    } else if (request.method === 'POST' && url.pathname === '/messages') {
      take(server, links.get(url.searchParams.get('sessionId')), request, response).catch(cutOff);
    } else {
      response.writeHead(url.pathname === '/sse' ? 405 : 404).end();
    }
  };
}

function open(server, links, response) {
  const id = randomUUID();
  const put = (event, data) => response.write(`event: ${event}\ndata: ${data}\n\n`);
  const announce = (text) => put('message', text);
  const link = new Link({ id, announce });
  links.set(id, link);
  note('session-opened', { session: id });
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  put('endpoint', `/messages?sessionId=${id}`);
  response.on('close', () => {
    note('session-closed', { session: id, how: 'stream closed' });
    links.delete(id);
    server.links.delete(link);
  });
}

async function take(server, link, request, response) {
  const text = await bodyOf(request);
  if (link === undefined) {
    response.writeHead(404).end('Session not found');
    return;
  }
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    response.writeHead(400).end('Not JSON');
    return;
  }
  response.writeHead(202).end('Accepted');
  await server.receive(link, message, { send: link.announce, answer: link.announce, accept() {} });
}
