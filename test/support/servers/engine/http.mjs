import { randomUUID } from 'node:crypto';

import { eraOf } from './eras.mjs';
import { EventStream } from './event-stream.mjs';
import { PostExchange } from './exchange.mjs';
import { checkLegacyHeaders, checkModernHeaders, refusalOf, takesGzip } from './headers.mjs';
import { Link } from './link.mjs';
import { note } from './note.mjs';

/** Serves Streamable HTTP at `/mcp`: sessions for legacy clients unless `--sessionless`, none for modern ones. */
export function serveHttp(server) {
  const sessions = new Sessions(server);
  return (request, response) => {
    if (new URL(request.url, 'http://fixture').pathname !== '/mcp') {
      response.writeHead(404).end();
    } else if (request.method === 'POST') {
      post(request, response, sessions).catch(cutOff);
    } else if (server.era === 'modern' || server.options.has('sessionless')) {
      response.writeHead(405, { allow: 'POST' }).end();
    } else if (request.method === 'GET') {
      get(request, response, sessions);
    } else if (request.method === 'DELETE') {
      sessions.of(request, response)?.close('deleted', response);
    } else {
      response.writeHead(405, { allow: 'GET, POST, DELETE' }).end();
    }
  };
}

async function post(request, response, sessions) {
  const { server } = sessions;
  const text = await bodyOf(request);
  const refusal = refusalOf(request);
  if (refusal !== undefined) {
    response.writeHead(refusal.status).end(refusal.text);
    return;
  }
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    refuse(response, 400, -32700, 'Parse error');
    return;
  }
  if (eraOf(message, server.era) === 'modern') {
    const link = new Link({ id: 'stateless', announce: () => {}, sessionless: true });
    const exchange = new PostExchange({ request, response, server });
    exchange.checkHeaders = () => checkModernHeaders(request.headers, message, server);
    response.on('close', () => server.links.delete(link));
    await server.receive(link, message, exchange);
    return;
  }
  const session = sessions.forPost(request, response, message);
  if (session === undefined) return;
  const version = request.headers['mcp-protocol-version'];
  if (version !== undefined && message.method !== 'initialize' && !server.versions.includes(version)) {
    refuse(response, 400, -32000, `Bad Request: Unsupported protocol version: ${version}`);
    return;
  }
  checkLegacyHeaders(request, session.link);
  const exchange = new PostExchange({ request, response, server, session });
  if (message.method === 'initialize' && session.id !== undefined)
    exchange.headers['mcp-session-id'] = session.id;
  await server.receive(session.link, message, exchange);
}

function get(request, response, sessions) {
  const session = sessions.of(request, response);
  if (session === undefined) return;
  checkLegacyHeaders(request, session.link);
  const gzip = takesGzip(request, sessions.server.options);
  const lastEventId = request.headers['last-event-id'];
  if (lastEventId !== undefined) {
    const stream = session.streams.get(lastEventId.split('/')[0]);
    note('resumed', { lastEventId, known: stream !== undefined });
    if (stream === undefined) response.writeHead(400).end();
    else stream.attach(response, { lastEventId, gzip });
    return;
  }
  if (session.standalone !== undefined) {
    response.writeHead(409).end();
    return;
  }
  session.openStandalone(response, gzip);
}

class Sessions {
  byId = new Map();

  constructor(server) {
    this.server = server;
  }

  /** Returns the session of a POST, a new one for `initialize`, or undefined if the POST was already answered with an error. */
  forPost(request, response, message) {
    if (this.server.options.has('sessionless')) return sessionless(this.server, request, message);
    if (message.method !== 'initialize') return this.of(request, response);
    const session = new Session(this.server, () => this.byId.delete(session.id));
    this.byId.set(session.id, session);
    note('session-opened', { session: session.id });
    return session;
  }

  of(request, response) {
    const id = request.headers['mcp-session-id'];
    if (id === undefined) {
      refuse(response, 400, -32000, 'Bad Request: Mcp-Session-Id header is required');
      return undefined;
    }
    const session = this.byId.get(id);
    if (session === undefined) {
      refuse(response, 404, -32001, 'Session not found');
      return undefined;
    }
    if (request.method === 'POST') session.requests += 1;
    const limit = this.server.definition.forgetsSessionsAfter;
    if (limit !== undefined && session.requests > limit) {
      session.close('forgotten');
      refuse(response, 404, -32001, 'Session not found');
      return undefined;
    }
    return session;
  }
}

class Session {
  id = randomUUID();
  requests = 0;
  streams = new Map();
  standalone;
  backlog = [];
  forget;
  server;

  constructor(server, forget) {
    this.server = server;
    this.forget = forget;
    this.link = new Link({ id: this.id, announce: (text) => this.#announce(text) });
  }

  openStandalone(response, gzip) {
    this.standalone = new EventStream({ name: 'standalone' });
    this.standalone.attach(response, { gzip });
    note('stream-opened', { session: this.id });
    for (const text of this.backlog.splice(0)) this.standalone.send(text);
    response.on('close', () => {
      this.standalone = undefined;
      note('stream-closed', { session: this.id });
    });
  }

  // Notifications without a listener are kept for the first listener, as in servers with an event store.
  #announce(text) {
    if (this.standalone === undefined) this.backlog.push(text);
    else this.standalone.send(text);
  }

  close(how, response) {
    note('session-closed', { session: this.id, how, requests: this.requests });
    this.forget();
    this.server.links.delete(this.link);
    this.standalone?.end();
    response?.writeHead(200).end();
  }
}

function sessionless(server, request, message) {
  const link = new Link({ id: 'sessionless', announce: () => {}, sessionless: true });
  if (message.method !== 'initialize') link.version = request.headers['mcp-protocol-version'] ?? '2025-03-26';
  return { id: undefined, link, streams: new Map() };
}

function refuse(response, status, code, message) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}

/** Ignores the error of a client that disconnected during its request; any other error is a bug. */
export function cutOff(error) {
  if (error.code !== 'ECONNRESET') throw error;
  note('cut-off', { reason: String(error) });
}

export async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
