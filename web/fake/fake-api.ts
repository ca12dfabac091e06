import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Plugin } from 'vite';

import { fakeResponse } from './fake-responses.ts';

/** Serves the admin API with fake data in `vite` and `vite preview`, to work on pages without a gateway. */
export function fakeApi(): Plugin {
  let isSignedIn = true;
  const handle = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (!url.pathname.startsWith('/api/')) return next();
    const route = `${request.method ?? 'GET'} ${url.pathname}`;
    if (route === 'POST /api/session') isSignedIn = true;
    if (route === 'DELETE /api/session') isSignedIn = false;
    if (!isSignedIn)
      return sendJson(response, 401, { error: problem('CREDENTIALS_REFUSED', 'You are not signed in.') });
    if (route === 'GET /api/events') return streamEvents(response);
    const value = fakeResponse(route);
    if (value === undefined)
      return sendJson(response, 404, { error: problem('ENTRY_NOT_FOUND', `There is no route ${route}.`) });
    return sendJson(response, 200, value);
  };
  return {
    name: 'fake-api',
    apply: 'serve',
    configureServer: (server) => void server.middlewares.use(handle),
    configurePreviewServer: (server) => void server.middlewares.use(handle),
  };
}

function problem(code: string, message: string): object {
  return { code, message, details: {} };
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function streamEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`event: hello\ndata: ${JSON.stringify({ version: '0.1.0', since: 1 })}\n\n`);
  const timer = setInterval(() => response.write(': \n\n'), 5000);
  response.on('close', () => clearInterval(timer));
}
