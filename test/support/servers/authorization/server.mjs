import { createServer } from 'node:http';

import { bodyOf } from '../engine/http.mjs';
import { note } from '../engine/note.mjs';
import { json, pause } from './answers.mjs';
import { authorize } from './authorize.mjs';
import { Clients } from './clients.mjs';
import { activate, device, revoke, token } from './grants.mjs';
import { serveMetadata } from './metadata.mjs';
import { Tokens } from './tokens.mjs';

/** Starts an authorization server on loopback; `issuerPath` makes it one of several issuers at its origin. */
export async function startAuthorizationServer({ behaviour, issuerPath = '', port = 0 }) {
  const as = { behaviour, codes: new Map(), devices: new Map(), issuer: '', base: '' };
  as.clients = new Clients(as);
  as.tokens = new Tokens(as);
  await as.tokens.rotateKeys();
  const listener = createServer((request, response) => {
    const url = new URL(request.url, as.origin);
    const { authorization, host } = request.headers;
    note('as', {
      method: request.method,
      path: url.pathname,
      host,
      hasAuthorization: authorization !== undefined,
    });
    answer(as, request, response, url).catch((/** @type {unknown} */ error) => {
      note('as-failed', { reason: String(error) });
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise((resolve) => listener.listen(port, '127.0.0.1', resolve));
  as.origin = `http://127.0.0.1:${listener.address().port}`;
  as.issuer = `${as.origin}${issuerPath}`;
  as.base = as.issuer;
  return as;
}

async function answer(as, request, response, url) {
  const { behaviour } = as;
  const path = url.pathname;
  await pause(behaviour.slowMs);
  if (serveMetadata(as, path, response)) return;
  const own = path.startsWith(new URL(as.base).pathname.replace(/\/$/, ''))
    ? path.slice(new URL(as.base).pathname.replace(/\/$/, '').length)
    : path;
  const route = `${request.method} ${own}`;
  if (route === 'GET /authorize' || route === 'POST /consent') authorize(as, url, response);
  else if (route === 'POST /token') await token(as, request, response);
  else if (route === 'POST /device') await device(as, request, response);
  else if (route === 'POST /revoke') await revoke(as, request, response);
  else if (route === 'GET /activate') activate(as, url, response);
  else if (route === 'GET /jwks') json(response, 200, await as.tokens.jwks());
  else if (route === 'POST /register' && behaviour.register)
    as.clients.register(JSON.parse(await bodyOf(request)), response);
  else response.writeHead(404).end();
}
