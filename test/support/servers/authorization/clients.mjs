import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, importSPKI, jwtVerify } from 'jose';

import { note } from '../engine/note.mjs';
import { OAuthRefusal, json } from './answers.mjs';

/** Clients that may request tokens: registered manually, dynamically, or by a metadata document at the URL that is their id. */
export class Clients {
  known = new Map();

  constructor(as) {
    this.as = as;
  }

  add(client) {
    this.known.set(client.client_id, client);
  }

  forgetAll() {
    this.known.clear();
  }

  register(asked, response) {
    const { behaviour } = this.as;
    note('register', { asked });
    if (behaviour.registerStatus >= 400) {
      return json(response, behaviour.registerStatus, {
        error: 'invalid_client_metadata',
        error_description: 'This server does not like you.',
      });
    }
    const method = asked.token_endpoint_auth_method ?? 'client_secret_basic';
    const client = {
      ...asked,
      client_id: `client-${randomUUID()}`,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      ...(method !== 'none' && { client_secret: randomUUID(), client_secret_expires_at: 0 }),
    };
    this.add(client);
    return json(response, behaviour.registerStatus, behaviour.registerAnswer ?? client);
  }

  /** Returns a client by its id. A metadata document is not fetched, because the tests cannot host one over HTTPS. */
  find(id, redirectUri) {
    const known = this.known.get(id);
    if (known !== undefined) return known;
    if (this.as.behaviour.cimd && /^https:\/\/.+\/./.test(id ?? '')) {
      note('client-document', { id });
      return { client_id: id, redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
    }
    return undefined;
  }

  /** Returns the authenticated client of a token request. */
  async authenticated(request, form) {
    const { method, id, secret } = await this.#presented(request, form);
    const client = this.find(id, form.get('redirect_uri'));
    note('client-authentication', { method, id });
    if (client === undefined)
      throw new OAuthRefusal('invalid_client', `Client ${id} is not known here.`, 401);
    if (method === 'private_key_jwt') {
      if (client.public_key === undefined && client.jwks === undefined)
        throw new OAuthRefusal('invalid_client', 'No key of this client is known.', 401);
    } else if (client.client_secret !== undefined && client.client_secret !== secret) {
      throw new OAuthRefusal('invalid_client', 'The client secret is wrong.', 401);
    }
    return client;
  }

  async #presented(request, form) {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (basic !== undefined) {
      const both = Buffer.from(basic, 'base64').toString().replaceAll('+', ' ');
      const [id, secret] = both.split(':').map(decodeURIComponent);
      return { method: 'client_secret_basic', id, secret };
    }
    const assertion = form.get('client_assertion');
    if (assertion !== null) return { method: 'private_key_jwt', id: await this.#verified(assertion) };
    const secret = form.get('client_secret') ?? undefined;
    return {
      method: secret === undefined ? 'none' : 'client_secret_post',
      id: form.get('client_id') ?? undefined,
      secret,
    };
  }

  async #verified(assertion) {
    const { sub } = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString());
    const client = this.known.get(sub);
    if (client === undefined) return sub;
    const key =
      client.jwks === undefined
        ? await importSPKI(client.public_key, client.alg ?? 'ES256')
        : createLocalJWKSet(client.jwks);
    try {
      const { payload } = await jwtVerify(assertion, key, { issuer: sub, subject: sub });
      const audiences = [payload.aud].flat();
      if (!audiences.some((aud) => aud === this.as.issuer || aud === `${this.as.base}/token`))
        throw new Error('the audience is wrong');
      if (payload.jti === undefined || payload.exp === undefined) throw new Error('jti or exp is missing');
    } catch (error) {
      throw new OAuthRefusal('invalid_client', `The assertion is not valid: ${error.message}`, 401);
    }
    return sub;
  }
}
