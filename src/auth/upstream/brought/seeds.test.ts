import { expect, test } from 'vitest';

import type { UpstreamName } from '../../../model/ids.ts';
import { seedOf, seedVariable } from './seeds.ts';

const name = 'my-server.v2' as UpstreamName;
const read = (text: string | undefined): ReturnType<typeof seedOf> =>
  seedOf(name, { env: { TRUNKLINE_TOKENS_MY_SERVER_V2: text }, url: 'https://a.example/mcp', now: 1000 });

test('the variable is the name in capitals', () => {
  expect(seedVariable(name)).toBe('TRUNKLINE_TOKENS_MY_SERVER_V2');
});

test('nothing there is no seed', () => {
  expect(read(undefined)).toBeUndefined();
  expect(read('  ')).toBeUndefined();
});

test('a bare token is taken as it is, without an end', () => {
  expect(read(' abc \n')).toMatchObject({ accessToken: 'abc', flow: 'seed', url: 'https://a.example/mcp' });
  expect(read('abc')?.expiresAt).toBeUndefined();
});

test('the answer of a token endpoint brings what renewing needs', () => {
  const seed = read(
    JSON.stringify({
      ...{ access_token: 'a', refresh_token: 'r', expires_at: 2 },
      ...{ token_endpoint: 'https://as.example/t/token', client_id: 'c', client_secret: 's' },
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

test('without an access token it is renewed first', () => {
  const seed = read('{"refresh_token":"r","token_endpoint":"https://as.example/token","client_id":"c"}');
  expect(seed?.expiresAt).toBe(1000);
});

test.each([
  ['{"refresh_token":"r"}', 'token_endpoint'],
  ['{}', 'access_token'],
  ['{not json', 'not a JSON object'],
  ['two\nlines', 'no header can carry'],
])('%s is told without being shown', (text, problem) => {
  expect(() => read(text)).toThrow(problem);
  expect(() => read(text)).toThrow('TRUNKLINE_TOKENS_MY_SERVER_V2');
  expect(() => read(text)).not.toThrow(/not json|two/);
});

test('another seed has another mark, which does not tell it', () => {
  expect(read('abc')?.seed).toBe(read('abc')?.seed);
  expect(read('abc')?.seed).not.toBe(read('abd')?.seed);
  expect(read('abc')?.seed).not.toContain('abc');
});
