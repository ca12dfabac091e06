import { createHash } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { createAuthorizationRequest, readAuthorizationCode, isResponseTo } from './authorization-code.ts';
import type { AuthorizationServerMetadata } from './server-discovery.ts';

const server: AuthorizationServerMetadata = {
  issuer: 'https://as.example',
  authorizationEndpoint: 'https://as.example/authorize?tenant=1',
  tokenEndpoint: 'https://as.example/token',
  authMethods: [],
  signingAlgorithms: [],
  scopes: [],
  hasS256: true,
  takesClientDocuments: false,
  namesIssuer: true,
};
const options = {
  server,
  clientId: 'c',
  redirectUri: 'http://127.0.0.1:1/callback',
  scope: 'a',
  resource: undefined,
};

describe('authorization request', () => {
  test('authorization request: keeps the endpoint query and sends the PKCE challenge, not the verifier', () => {
    const { url, verifier } = createAuthorizationRequest(options);
    expect(url.searchParams.get('tenant')).toBe('1');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    expect(url.searchParams.get('code_challenge')).toBe(challenge);
    expect(url.href).not.toContain(verifier);
    expect(verifier.length).toBeGreaterThanOrEqual(43);
  });

  test('authorization request: uses a new state and verifier each time', () => {
    const [one, other] = [createAuthorizationRequest(options), createAuthorizationRequest(options)];
    expect(one.state).not.toBe(other.state);
    expect(one.verifier).not.toBe(other.verifier);
  });

  test('authorization request: asks for consent when it requests offline_access', () => {
    const scope = 'a offline_access';
    expect(createAuthorizationRequest({ ...options, scope }).url.searchParams.get('prompt')).toBe('consent');
    expect(createAuthorizationRequest(options).url.searchParams.has('prompt')).toBe(false);
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://as.example/authorize'])(
    'authorization request: rejects the authorization endpoint %s',
    (authorizationEndpoint) => {
      expect(() =>
        createAuthorizationRequest({ ...options, server: { ...server, authorizationEndpoint } }),
      ).toThrow(/https/);
    },
  );
});

describe('authorization response', () => {
  const request = createAuthorizationRequest(options);
  const response = (fields: Record<string, string>): URLSearchParams =>
    new URLSearchParams({ state: request.state, iss: server.issuer, code: 'x', ...fields });

  test('authorization response: yields the code when state and issuer match', () => {
    expect(readAuthorizationCode(response({}), request, server)).toBe('x');
  });

  test('authorization response: rejects another state', () => {
    expect(isResponseTo(request, response({ state: `${request.state}x` }))).toBe(false);
    expect(() => readAuthorizationCode(response({ state: '' }), request, server)).toThrow(/another sign-in/);
  });

  test.each(['https://as.example/', 'https://AS.example', 'https://evil.example', ''])(
    'authorization response: rejects the issuer %s',
    (iss) => {
      expect(() => readAuthorizationCode(response({ iss }), request, server)).toThrow(
        /; expected https:\/\/as\.example\./,
      );
    },
  );

  test('authorization response: hides the error description of a wrong issuer', () => {
    const wrong = response({ iss: 'https://evil.example', error: 'x', error_description: 'Call 555' });
    expect(() => readAuthorizationCode(wrong, request, server)).not.toThrow(/555/);
  });

  test('authorization response: checks the issuer when it is sent, and requires it when it was announced', () => {
    const silent = { ...server, namesIssuer: false };
    expect(() => readAuthorizationCode(response({ iss: 'https://evil.example' }), request, silent)).toThrow(
      /; expected https:\/\/as\.example\./,
    );
    const without = response({});
    without.delete('iss');
    expect(readAuthorizationCode(without, request, silent)).toBe('x');
    expect(() => readAuthorizationCode(without, request, server)).toThrow(/does not name its issuer/);
  });
});
