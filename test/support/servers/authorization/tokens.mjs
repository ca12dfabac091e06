import { randomUUID } from 'node:crypto';
import { SignJWT, exportJWK, generateKeyPair, jwtVerify } from 'jose';

import { note } from '../engine/note.mjs';
import { OAuthRefusal } from './answers.mjs';

/** Access tokens are signed and contain their audience. Refresh tokens are single-use; using one twice revokes all tokens of the grant. */
export class Tokens {
  refresh = new Map();
  revoked = new Set();
  #key;

  constructor(as) {
    this.as = as;
  }

  async rotateKeys() {
    this.#key = await generateKeyPair('ES256');
  }

  async jwks() {
    return { keys: [{ ...(await exportJWK(this.#key.publicKey)), alg: 'ES256', use: 'sig' }] };
  }

  async issue({ client, scope, resource, subject, family = randomUUID() }) {
    const { behaviour, issuer } = this.as;
    const jti = randomUUID();
    const access = await new SignJWT({ scope, client_id: client.client_id, family })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(issuer)
      .setSubject(subject ?? client.client_id)
      .setAudience(resource ?? 'nobody')
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + Math.ceil(behaviour.tokenTtl))
      .setJti(jti)
      .sign(this.#key.privateKey);
    note('issued', { jti, family, client: client.client_id, scope, resource, subject });
    const answer = {
      access_token: access,
      token_type: 'Bearer',
      expires_in: behaviour.tokenTtl,
      ...(scope !== '' && { scope }),
    };
    if (subject !== undefined)
      answer.id_token = `e30.${Buffer.from(JSON.stringify({ email: subject })).toString('base64url')}.`;
    if (subject === undefined || !behaviour.refreshTokens) return answer;
    const refresh = `refresh-${randomUUID()}`;
    this.refresh.set(refresh, {
      client: client.client_id,
      scope,
      resource,
      subject,
      family,
      isSpent: false,
    });
    return { ...answer, refresh_token: refresh };
  }

  async renew(client, token) {
    const { behaviour } = this.as;
    const known = this.refresh.get(token);
    const { issuer } = this.as;
    note('refresh', {
      issuer,
      family: known?.family,
      isKnown: known !== undefined,
      wasSpent: known?.isSpent,
    });
    if (known === undefined || known.client !== client.client_id || this.revoked.has(known.family))
      throw new OAuthRefusal('invalid_grant', 'The refresh token is not valid any more.');
    if (known.isSpent) {
      note('refresh-reused', { family: known.family });
      if (behaviour.reuseDetection) {
        this.revoked.add(known.family);
        throw new OAuthRefusal('invalid_grant', 'The refresh token was used twice; everything is revoked.');
      }
    }
    known.isSpent = behaviour.rotate;
    const { scope, resource, subject, family } = known;
    const answer = await this.issue({ client, scope, resource, subject, family });
    if (behaviour.rotate && behaviour.refreshAnswersHaveRefreshToken) return answer;
    if (behaviour.rotate === false) known.isSpent = false;
    delete answer.refresh_token;
    return answer;
  }

  revoke(token) {
    const family = this.refresh.get(token)?.family ?? familyOf(token);
    note('revoke', { family, isKnown: family !== undefined });
    if (family !== undefined) this.revoked.add(family);
  }

  revokeAll() {
    for (const { family } of this.refresh.values()) this.revoked.add(family);
  }

  /** Returns the claims of a token, or the reason why it is rejected. */
  async check(token, resource) {
    try {
      const { payload } = await jwtVerify(token, this.#key.publicKey, {
        issuer: this.as.issuer,
        audience: resource,
        clockTolerance: 0,
      });
      if (this.revoked.has(payload.family)) return { problem: 'The token was revoked.' };
      return { claims: payload };
    } catch (error) {
      return { problem: error.message };
    }
  }
}

function familyOf(token) {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()).family;
  } catch {
    return undefined; // We did not issue it.
  }
}
