import { createHash, randomUUID } from 'node:crypto';

import { note } from '../engine/note.mjs';
import { OAuthRefusal, formOf, json, pause } from './answers.mjs';

/** Serves the token endpoint. */
export async function token(as, request, response) {
  const { behaviour } = as;
  const form = await formOf(request);
  const grant = form.get('grant_type');
  note('token', {
    grant,
    resource: form.get('resource'),
    scope: form.get('scope'),
    hasSecretInUrl: request.url.includes('secret'),
  });
  await pause(behaviour.slowTokenMs);
  if (behaviour.tokenRedirect !== undefined) {
    response.writeHead(307, { location: behaviour.tokenRedirect }).end();
    return;
  }
  if (behaviour.tokenStatus >= 400 || behaviour.tokenAnswer !== undefined) {
    json(response, behaviour.tokenStatus, behaviour.tokenAnswer ?? 'The server is out of order.');
    return;
  }
  try {
    if (behaviour.tokenError !== undefined)
      throw new OAuthRefusal(behaviour.tokenError.error, behaviour.tokenError.error_description);
    const client = await as.clients.authenticated(request, form);
    const answer = await grants[grant]?.(as, client, form);
    if (answer === undefined) throw new OAuthRefusal('unsupported_grant_type', `No tokens for ${grant}.`);
    json(response, behaviour.tokenStatus, answer);
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error;
    error.send(response);
  }
}

const grants = {
  authorization_code(as, client, form) {
    const asked = as.codes.get(form.get('code'));
    as.codes.delete(form.get('code'));
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked === undefined || asked.client !== client.client_id)
      throw new OAuthRefusal('invalid_grant', 'The code is not known.');
    if (asked.redirect_uri !== form.get('redirect_uri'))
      throw new OAuthRefusal('invalid_grant', 'The redirect_uri is another one.');
    if (asked.code_challenge !== challenge) throw new OAuthRefusal('invalid_grant', 'PKCE failed.');
    if ((asked.resource ?? null) !== form.get('resource'))
      throw new OAuthRefusal('invalid_target', 'The resource is another one.');
    return as.tokens.issue({
      client,
      scope: asked.scope ?? '',
      resource: asked.resource,
      subject: as.behaviour.account,
    });
  },
  refresh_token: (as, client, form) => as.tokens.renew(client, form.get('refresh_token')),
  client_credentials: (as, client, form) =>
    as.tokens.issue({ client, scope: form.get('scope') ?? '', resource: form.get('resource') ?? undefined }),
  'urn:ietf:params:oauth:grant-type:device_code'(as, client, form) {
    const device = as.devices.get(form.get('device_code'));
    if (device === undefined || device.client !== client.client_id)
      throw new OAuthRefusal('invalid_grant', 'The device code is not known.');
    if (device.state === 'denied') throw new OAuthRefusal('access_denied', 'The person said no.');
    if (device.state === 'expired') throw new OAuthRefusal('expired_token', 'The code is too old.');
    device.polls += 1;
    if (device.polls === 1 && device.slowDown) throw new OAuthRefusal('slow_down', 'Not so fast.');
    if (device.state !== 'allowed') throw new OAuthRefusal('authorization_pending', 'Nobody has agreed yet.');
    as.devices.delete(form.get('device_code'));
    return as.tokens.issue({
      client,
      scope: device.scope,
      resource: device.resource,
      subject: as.behaviour.account,
    });
  },
};

export async function device(as, request, response) {
  const form = await formOf(request);
  note('device', { client: form.get('client_id'), scope: form.get('scope'), resource: form.get('resource') });
  const code = `device-${randomUUID()}`;
  const userCode = as.behaviour.userCode ?? randomUUID().slice(0, 8).toUpperCase();
  as.devices.set(code, {
    client: form.get('client_id') ?? basicId(request),
    scope: form.get('scope') ?? '',
    resource: form.get('resource') ?? undefined,
    state: 'pending',
    polls: 0,
    userCode,
    slowDown: as.behaviour.deviceSlowDown === true,
  });
  json(response, 200, {
    device_code: code,
    user_code: userCode,
    verification_uri: as.behaviour.verificationUri ?? `${as.base}/activate`,
    verification_uri_complete: `${as.base}/activate?user_code=${userCode}`,
    expires_in: as.behaviour.deviceTtl ?? 600,
    interval: as.behaviour.deviceInterval ?? 1,
  });
}

/** The page on which the user enters the device code or opens the link; approves at once, unless the URL contains `deny`. */
export function activate(as, url, response) {
  const device = [...as.devices.values()].find((one) => one.userCode === url.searchParams.get('user_code'));
  note('activate', { isKnown: device !== undefined });
  if (device !== undefined) device.state = url.searchParams.has('deny') ? 'denied' : 'allowed';
  response.writeHead(device === undefined ? 404 : 200).end('Done.');
}

export async function revoke(as, request, response) {
  const form = await formOf(request);
  as.tokens.revoke(form.get('token'));
  response.writeHead(200).end();
}

function basicId(request) {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  return basic === undefined ? undefined : Buffer.from(basic, 'base64').toString().split(':')[0];
}
