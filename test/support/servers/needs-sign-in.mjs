#!/usr/bin/env node
// Requires a token of the authorization server in the same process, for exactly this server and with the required scopes.
// `--behaviour JSON` configures both (see authorization/behaviour.mjs), `POST /control` changes it, `--issuer-path` moves the issuer.
import { createServer } from 'node:http';

import { defaultBehaviour } from './authorization/behaviour.mjs';
import { json } from './authorization/answers.mjs';
import { startAuthorizationServer } from './authorization/server.mjs';
import { bodyOf, serveHttp } from './engine/http.mjs';
import { listenOnLoopback } from './engine/loopback.mjs';
import { note } from './engine/note.mjs';
import { plainOffer } from './engine/offer.mjs';
import { readOptions } from './engine/options.mjs';
import { FixtureServer } from './engine/server.mjs';

const options = readOptions(process.argv.slice(2));
const behaviour = { ...defaultBehaviour(), ...JSON.parse(options.text('behaviour', '{}')) };
const as = await startAuthorizationServer({ behaviour, issuerPath: options.text('issuer-path', '') });
let current = as;
const whoami = {
  name: 'whoami',
  description: 'Says for whom the token was made.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true },
  call: (_args, call) => {
    const claims = call?.exchange?.request?.claims ?? {};
    return { content: [{ type: 'text', text: `${claims.sub ?? 'nobody'} ${claims.jti ?? ''}`.trim() }] };
  },
};
const offer = plainOffer();
const definition = { name: 'needs-sign-in', ...offer, tools: [...offer.tools, whoami], intercept: refused };
const serveRequest = serveHttp(new FixtureServer(definition, options));
const listener = createServer((request, response) => {
  note('http', { method: request.method, url: request.url, headers: request.headers });
  answer(request, response).catch((/** @type {unknown} */ error) => {
    note('failed', { reason: String(error) });
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
await listenOnLoopback(listener, options);

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://fixture');
  if (pathname === '/control') return control(request, response);
  if (pathname.includes('/.well-known/')) return resourceMetadata(pathname, response);
  if (!behaviour.paths.includes(pathname)) return response.writeHead(404).end();
  request.place = pathname;
  request.url = '/mcp'; // The MCP server knows only this path; the accepted tokens depend on the original path.
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const checked = token === undefined ? {} : await current.tokens.check(token, resource(pathname));
  request.claims = checked.claims;
  request.problem = checked.problem;
  if (checked.claims === undefined)
    note('unauthorized', { place: pathname, hasToken: token !== undefined, why: checked.problem });
  if (
    checked.claims === undefined &&
    (token !== undefined || behaviour.openMethods.length === 0 || request.method !== 'POST')
  )
    return response.writeHead(401, challenge(checked.problem, pathname)).end('{"error":"invalid_token"}');
  return serveRequest(request, response);
}

/** Checks each message: some methods are open to all, others require scopes. */
function refused(message, { exchange }) {
  const { request } = exchange;
  if (message.method === undefined || request.claims === undefined) {
    if (request.claims !== undefined || behaviour.openMethods.includes(message.method)) return false;
    Object.assign(exchange.headers, challenge(request.problem, request.place));
    exchange.answer('{"error":"invalid_token"}', 401);
    return true;
  }
  const wanted = behaviour.scopes[message.method] ?? [];
  const granted = (request.claims.scope ?? '').split(' ');
  if (wanted.every((scope) => granted.includes(scope))) return false;
  note('insufficient-scope', { wanted, granted });
  const scope = wanted.join(' ');
  exchange.headers['www-authenticate'] =
    `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadataUrl(request.place)}", error_description="More is needed."`;
  exchange.answer('{"error":"insufficient_scope"}', 403);
  return true;
}

function challenge(problem, place) {
  const parts = [
    ...(problem === undefined
      ? []
      : ['error="invalid_token"', `error_description="${problem.replaceAll('"', "'")}"`]),
    ...(behaviour.prmInChallenge && behaviour.prm !== 'none'
      ? [`resource_metadata="${metadataUrl(place)}"`]
      : []),
    ...(behaviour.challengeScope === undefined ? [] : [`scope="${behaviour.challengeScope}"`]),
  ];
  return { 'www-authenticate': parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}` };
}

function resource(place = '/mcp') {
  return `http://127.0.0.1:${listener.address().port}${place}`;
}

function metadataUrl(place) {
  const path = behaviour.prm === 'root' ? '' : place;
  return `http://127.0.0.1:${listener.address().port}/.well-known/oauth-protected-resource${path}`;
}

function resourceMetadata(pathname, response) {
  const place = behaviour.paths.find((one) => pathname === new URL(metadataUrl(one)).pathname);
  if (behaviour.prm === 'none' || place === undefined) return response.writeHead(404).end();
  return json(response, 200, {
    resource: behaviour.prmResource ?? resource(place),
    authorization_servers: [current.issuer],
    ...(behaviour.prmScopes !== undefined && { scopes_supported: behaviour.prmScopes }),
  });
}

/** Changes the behaviour, and performs actions that are not settings. */
async function control(request, response) {
  const { act, client, ...changes } = JSON.parse((await bodyOf(request)) || '{}');
  Object.assign(behaviour, changes);
  if (client !== undefined) current.clients.add(client);
  if (act === 'rotate-keys') await current.tokens.rotateKeys();
  if (act === 'revoke-all') current.tokens.revokeAll();
  if (act === 'forget-clients') current.clients.forgetAll();
  if (act === 'migrate') current = await startAuthorizationServer({ behaviour });
  json(response, 200, { issuer: current.issuer, base: current.base, resource: resource() });
}
