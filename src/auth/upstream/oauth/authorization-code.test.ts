import { createHash } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { authorizationRequest, codeOf, isAnswerTo } from './authorization-code.ts';
import type { AuthorizationServer } from './discovery.ts';

const server: AuthorizationServer = {
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

describe('authorizationRequest', () => {
  test('keeps the query of the endpoint and hides the verifier', () => {
    const { url, verifier } = authorizationRequest(options);
    expect(url.searchParams.get('tenant')).toBe('1');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    expect(url.searchParams.get('code_challenge')).toBe(challenge);
    expect(url.href).not.toContain(verifier);
    expect(verifier.length).toBeGreaterThanOrEqual(43);
  });

  test('is another one each time', () => {
    const [one, other] = [authorizationRequest(options), authorizationRequest(options)];
    expect(one.state).not.toBe(other.state);
    expect(one.verifier).not.toBe(other.verifier);
  });

  test('asks for consent where a refresh token needs it', () => {
    const scope = 'a offline_access';
    expect(authorizationRequest({ ...options, scope }).url.searchParams.get('prompt')).toBe('consent');
    expect(authorizationRequest(options).url.searchParams.has('prompt')).toBe(false);
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://as.example/authorize'])(
    'never lets a browser open %s',
    (authorizationEndpoint) => {
      expect(() =>
        authorizationRequest({ ...options, server: { ...server, authorizationEndpoint } }),
      ).toThrow(/https/);
    },
  );
});

describe('codeOf', () => {
  const request = authorizationRequest(options);
  const answer = (fields: Record<string, string>): URLSearchParams =>
    new URLSearchParams({ state: request.state, iss: server.issuer, code: 'x', ...fields });

  test('gives the code of an answer that fits', () => {
    expect(codeOf(answer({}), request, server)).toBe('x');
  });

  test('refuses another state before anything else', () => {
    expect(isAnswerTo(request, answer({ state: `${request.state}x` }))).toBe(false);
    expect(() => codeOf(answer({ state: '' }), request, server)).toThrow(/another sign-in/);
  });

  test.each(['https://as.example/', 'https://AS.example', 'https://evil.example', ''])(
    'refuses the issuer %s',
    (iss) => {
      expect(() => codeOf(answer({ iss }), request, server)).toThrow(/instead of/);
    },
  );

  test('an error of a wrong issuer is not even told', () => {
    const wrong = answer({ iss: 'https://evil.example', error: 'x', error_description: 'Call 555' });
    expect(() => codeOf(wrong, request, server)).not.toThrow(/555/);
  });

  test('an issuer that was not promised must be right as well', () => {
    const silent = { ...server, namesIssuer: false };
    expect(() => codeOf(answer({ iss: 'https://evil.example' }), request, silent)).toThrow(/instead of/);
    const without = answer({});
    without.delete('iss');
    expect(codeOf(without, request, silent)).toBe('x');
    expect(() => codeOf(without, request, server)).toThrow(/does not name its issuer/);
  });
});
