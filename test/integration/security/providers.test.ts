import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { describe, expect, test } from 'vitest';

import {
  sendRequest,
  initializeBody,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const AUDIENCE = 'https://mcp.example.test/mcp';
const profiles = { echoing: { names: ['echo'] } };

describe('forwarded identity', () => {
  test('forwarded identity: is accepted from a configured proxy with exactly one header each', async () => {
    const forwarded = { from: ['127.0.0.1', '::1'], user: 'X-User', groups: 'X-Groups' };
    const rules = [{ id: 'staff-only', effect: 'allow', groups: ['staff'] }];
    await using gateway = await startGatewayWithAuth({
      auth: { forwarded },
      policy: { default: 'deny', rules },
    });
    const at = (headers: Record<string, string | string[]>) => listToolNamesAt(gateway.url, { headers });
    expect(await at({ 'x-user': 'anna', 'x-groups': 'guests, staff' })).toContain('plain__echo');
    expect(await at({ 'x-user': 'anna', 'x-groups': 'guests' })).toEqual([]);
    expect(await at({})).toBe(401);
    expect(await at({ 'x-groups': 'staff' })).toBe(401);
    expect(await at({ 'x-user': '' })).toBe(401);
    expect(await at({ 'x-user': ['anna', 'root'] })).toBe(401);
    expect(await at({ 'x-user': 'anna', 'x-groups': ['guests', 'staff'] })).toBe(401);
    // Credentials of the client itself take precedence.
    expect(await at({ 'x-user': 'anna', authorization: 'Bearer tl_wrong' })).toBe(401);
  });

  test('forwarded identity: is rejected from other addresses, whatever the headers claim', async () => {
    const forwarded = { from: ['10.0.0.0/8', 'fd00::/8'], user: 'X-User' };
    await using gateway = await startGatewayWithAuth({ auth: { forwarded } });
    for (const lie of [
      {},
      { 'x-forwarded-for': '10.0.0.1' },
      { forwarded: 'for=10.0.0.1' },
      { 'x-real-ip': '10.0.0.1' },
    ])
      expect(await listToolNamesAt(gateway.url, { headers: { 'x-user': 'anna', ...lie } })).toBe(401);
  });
});

describe('JWTs of an external issuer', () => {
  test('JWT: is checked for issuer, audience, lifetime and scope, and its claims are applied', async () => {
    await using issuer = await Issuer.start();
    const jwt = {
      issuer: issuer.url,
      audience: AUDIENCE,
      scopes: ['tools'],
      claims: { groups: 'realm.groups', profile: 'profile', tier: 'tier' },
    };
    await using gateway = await startGatewayWithAuth({ auth: { jwt }, profiles });
    const at = async (key: string) => listToolNamesAt(gateway.url, { key });
    expect(await at(await issuer.token())).toContain('plain__echo');
    expect(await at(await issuer.token({ profile: 'echoing' }))).toEqual(['plain__echo']);
    expect(await at(await issuer.token({ profile: 'gone' }))).toBe(403);
    expect(await at(await issuer.token({ tier: 'everything' }))).toBe(401);
    expect(await at(await issuer.token({ realm: { groups: { a: 1 } } }))).toBe(401);
    expect(await at(await issuer.token({ aud: 'https://other.test' }))).toBe(401);
    expect(await at(await issuer.token({ iss: 'https://other.test' }))).toBe(401);
    expect(await at(await issuer.token({ exp: Math.floor(Date.now() / 1000) - 60 }))).toBe(401);
    expect(await at(await issuer.token({ nbf: Math.floor(Date.now() / 1000) + 300 }))).toBe(401);
    expect(await at(await issuer.token({ exp: undefined }))).toBe(401);
    expect(await at(await issuer.token({ sub: undefined }))).toBe(401);
    // Within the allowed clock skew.
    expect(await at(await issuer.token({ exp: Math.floor(Date.now() / 1000) - 5 }))).toContain('plain__echo');
    const key = await issuer.token({ scope: 'other' });
    const lacking = await sendRequest(gateway.url, { key, body: initializeBody });
    expect(lacking.status).toBe(403);
    expect(lacking.headers['www-authenticate']).toMatch(/error="insufficient_scope".*scope="tools"/);
    const nobody = await sendRequest(gateway.url, { body: initializeBody });
    const [, metadataUrl = ''] =
      /resource_metadata="([^"]+)"/.exec(nobody.headers['www-authenticate'] ?? '') ?? [];
    expect(JSON.parse((await sendRequest(metadataUrl)).text)).toMatchObject({
      resource: gateway.url,
      authorization_servers: [issuer.url],
      scopes_supported: ['tools'],
      bearer_methods_supported: ['header'],
    });
  });

  test('JWT: is rejected when unsigned or forged', async () => {
    await using issuer = await Issuer.start();
    await using gateway = await startGatewayWithAuth({
      auth: { jwt: { issuer: issuer.url, audience: AUDIENCE } },
    });
    const claims = { sub: 'anna', iss: issuer.url, aud: AUDIENCE };
    const none = new UnsecuredJWT(claims).setExpirationTime('5m').encode();
    expect(await listToolNamesAt(gateway.url, { key: none })).toBe(401);
    const shared = new TextEncoder().encode(await exportSPKI(issuer.publicKey));
    const confused = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: issuer.kid })
      .setExpirationTime('5m')
      .sign(shared);
    expect(await listToolNamesAt(gateway.url, { key: confused })).toBe(401);
    const own = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(own.publicKey);
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: issuer.kid, jwk })
      .setExpirationTime('5m')
      .sign(own.privateKey);
    expect(await listToolNamesAt(gateway.url, { key: forged })).toBe(401);
    expect(await listToolNamesAt(gateway.url, { key: await issuer.token() })).toContain('plain__echo');
  });

  test('JWT: does not cause a key fetch for each unknown key id', async () => {
    await using issuer = await Issuer.start();
    await using gateway = await startGatewayWithAuth({
      auth: { jwt: { issuer: issuer.url, audience: AUDIENCE } },
    });
    expect(await listToolNamesAt(gateway.url, { key: await issuer.token() })).toContain('plain__echo');
    const before = issuer.asked;
    const stranger = await generateKeyPair('ES256');
    for (let at = 0; at < 20; at++) {
      const key = await new SignJWT({ sub: 'x', iss: issuer.url, aud: AUDIENCE })
        .setProtectedHeader({ alg: 'ES256', kid: `unknown-${at}` })
        .setExpirationTime('5m')
        .sign(stranger.privateKey);
      expect((await sendRequest(gateway.url, { key, body: initializeBody })).status).toBe(401);
    }
    expect(issuer.asked - before).toBeLessThanOrEqual(1);
  });

  test('JWT: gets 503 with Retry-After while the issuer is unreachable', async () => {
    const issuer = await Issuer.start();
    const key = await issuer.token();
    await using gateway = await startGatewayWithAuth({
      auth: { jwt: { issuer: issuer.url, audience: AUDIENCE } },
    });
    await issuer[Symbol.asyncDispose]();
    const answer = await sendRequest(gateway.url, { key, body: initializeBody });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
  });
});

/** An authorization server that publishes only its keys. */
class Issuer implements AsyncDisposable {
  asked = 0;
  url = '';
  readonly kid = 'first';
  readonly publicKey: CryptoKey;
  readonly #privateKey: CryptoKey;
  readonly #jwk: JWK;
  readonly #server = createServer((request, response) => {
    const isKeys = request.url === '/keys';
    if (isKeys) this.asked++;
    const metadata = { issuer: this.url, jwks_uri: `${this.url}/keys` };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(isKeys ? { keys: [{ ...this.#jwk, kid: this.kid, alg: 'ES256' }] } : metadata),
    );
  });

  private constructor(keys: { publicKey: CryptoKey; privateKey: CryptoKey }, jwk: JWK) {
    this.publicKey = keys.publicKey;
    this.#privateKey = keys.privateKey;
    this.#jwk = jwk;
  }

  static async start(): Promise<Issuer> {
    const keys = await generateKeyPair('ES256', { extractable: true });
    const issuer = new Issuer(keys, await exportJWK(keys.publicKey));
    await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
    issuer.url = `http://127.0.0.1:${(issuer.#server.address() as AddressInfo).port}`;
    return issuer;
  }

  token(claims: Record<string, unknown> = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const usual = { sub: 'anna', iss: this.url, aud: AUDIENCE, exp: now + 300, scope: 'tools more' };
    const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
    return new SignJWT(Object.fromEntries(all))
      .setProtectedHeader({ alg: 'ES256', kid: this.kid })
      .sign(this.#privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }
}
