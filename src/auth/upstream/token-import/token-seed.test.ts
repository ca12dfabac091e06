import { expect, test } from 'vitest';

import type { UpstreamName } from '../../../core/ids.ts';
import { readTokenSeed, tokenSeedVariable } from './token-seed.ts';

const name = 'my-server.v2' as UpstreamName;
const read = (value: string): ReturnType<typeof readTokenSeed> =>
  readTokenSeed(name, {
    value,
    url: 'https://a.example/mcp',
    now: 1000,
  });

test('token seed: is read from a variable named after the server', () => {
  expect(tokenSeedVariable(name)).toBe('TRUNKLINE_TOKENS_MY_SERVER_V2');
});

test('token seed: is absent when the variable is blank', () => {
  expect(read('  ')).toBeUndefined();
});

test('token seed: accepts a bare access token that does not expire', () => {
  expect(read(' abc \n')).toMatchObject({ accessToken: 'abc', flow: 'seed', url: 'https://a.example/mcp' });
  expect(read('abc')?.expiresAt).toBeUndefined();
});

test('token seed: accepts a token response with everything a refresh needs', () => {
  const seed = read(
    JSON.stringify({
      access_token: 'a',
      refresh_token: 'r',
      expires_at: 2,
      token_endpoint: 'https://as.example/t/token',
      client_id: 'c',
      client_secret: 's',
    }),
  );
  expect(seed).toMatchObject({
    accessToken: 'a',
    refreshToken: 'r',
    expiresAt: 2000,
    client: { id: 'c', secret: 's' },
    server: { issuer: 'https://as.example', tokenEndpoint: 'https://as.example/t/token' },
  });
});

test('token seed: is refreshed first when it has no access token', () => {
  const seed = read('{"refresh_token":"r","token_endpoint":"https://as.example/token","client_id":"c"}');
  expect(seed?.expiresAt).toBe(1000);
});

test.each([
  ['{"refresh_token":"r"}', 'token_endpoint'],
  ['{}', 'access_token'],
  ['{not json', 'not a JSON object'],
  ['two\nlines', 'not allowed in a header'],
])('token seed: rejects %s without revealing it', (text, problem) => {
  expect(() => read(text)).toThrow(problem);
  expect(() => read(text)).toThrow('TRUNKLINE_TOKENS_MY_SERVER_V2');
  expect(() => read(text)).not.toThrow(/not json|two/);
});

test('token seed: has a hash that identifies it without revealing it', () => {
  expect(read('abc')?.seed).toBe(read('abc')?.seed);
  expect(read('abc')?.seed).not.toBe(read('abd')?.seed);
  expect(read('abc')?.seed).not.toContain('abc');
});
