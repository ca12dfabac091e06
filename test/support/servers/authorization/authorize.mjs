import { randomUUID } from 'node:crypto';

import { note } from '../engine/note.mjs';

/** Asks the user or approves at once, and redirects the browser back with a code. */
export function authorize(as, url, response) {
  const asked = Object.fromEntries(url.searchParams);
  note('authorize', { asked });
  const client = as.clients.find(asked.client_id, asked.redirect_uri);
  const problem = problemOf(client, asked);
  if (problem !== undefined) {
    note('refused', { error: problem });
    response.writeHead(400, { 'content-type': 'text/plain' }).end(problem);
    return;
  }
  if (as.behaviour.consent === 'page' && url.pathname.endsWith('/authorize')) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(consentPage(as, url, asked));
    return;
  }
  response.writeHead(302, { location: answerTo(as, client, asked).href }).end();
}

function problemOf(client, asked) {
  if (client === undefined) return 'This client is not known here.';
  if (!client.redirect_uris?.includes(asked.redirect_uri)) return 'The redirect_uri is not registered.';
  if (asked.response_type !== 'code') return 'Only codes are given.';
  if (asked.code_challenge_method !== 'S256' || !asked.code_challenge) return 'PKCE with S256 is required.';
  return undefined;
}

function answerTo(as, client, asked) {
  const { behaviour } = as;
  const target = new URL(asked.redirect_uri);
  const set = (name, value) => value !== undefined && target.searchParams.set(name, value);
  if (!behaviour.dropState) set('state', asked.state);
  if (behaviour.iss || behaviour.wrongIss !== undefined) set('iss', behaviour.wrongIss ?? as.issuer);
  if (behaviour.authorizeError !== undefined) {
    for (const [name, value] of Object.entries(behaviour.authorizeError)) set(name, value);
    return target;
  }
  const code = `code-${randomUUID()}`;
  as.codes.set(code, { client: client.client_id, ...asked });
  set('code', code);
  return target;
}

function consentPage(as, url, asked) {
  const action = `${as.base}/consent${url.search}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<!doctype html><title>Sign in</title><h1>Allow access?</h1><p id="scope">${(asked.scope ?? '').replaceAll('<', '')}</p>
<form method="post" action="${action}"><button id="allow">Allow</button></form>`;
}
