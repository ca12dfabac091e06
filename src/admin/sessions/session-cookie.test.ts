import { expect, test } from 'vitest';

import { isOwnPage, sessionCookie, tokenIn } from './session-cookie.ts';

const local = { origin: 'http://127.0.0.1:7332', port: '7332' };
const proxied = { origin: 'https://mcp.example.com', port: '7332' };

test('a cookie is for this host alone, out of reach of scripts and of other sites', () => {
  const cookie = sessionCookie(local, 'abc');
  expect(cookie).toBe('trunkline_7332=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000');
  expect(sessionCookie(proxied, 'abc')).toMatch(/^__Host-trunkline=abc; Path=\/; .*; Secure$/);
  expect(sessionCookie(local, undefined)).toContain(
    'trunkline_7332=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  );
});

test('the token is found among other cookies', () => {
  expect(tokenIn({ cookie: 'a=b; trunkline_7332=t-o_k; c=d' }, local)).toBe('t-o_k');
  expect(tokenIn({ cookie: 'trunkline_7333=other' }, local)).toBeUndefined();
  expect(tokenIn({ cookie: 'trunkline_7332=plain' }, proxied)).toBeUndefined();
  expect(tokenIn({}, local)).toBeUndefined();
});

const own = { origin: local.origin, 'sec-fetch-site': 'same-origin', 'x-trunkline': '1' };

test.each([
  ['our own page that changes something', 'POST', own, true],
  ['an older browser, which tells no site', 'POST', { origin: own.origin, 'x-trunkline': '1' }, true],
  ['a form of another page of this machine', 'POST', { ...own, origin: 'http://127.0.0.1:9999' }, false],
  [
    'a page of another site',
    'POST',
    { ...own, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    false,
  ],
  ['a page of the same site on another port', 'POST', { ...own, 'sec-fetch-site': 'same-site' }, false],
  ['a form without the header', 'POST', { origin: own.origin, 'sec-fetch-site': 'same-origin' }, false],
  ['who hides the origin', 'POST', { 'x-trunkline': '1' }, false],
  ['who has an opaque origin', 'DELETE', { ...own, origin: 'null' }, false],
  ['who typed the address', 'POST', { ...own, 'sec-fetch-site': 'none' }, false],
  ['our own page that reads', 'GET', { 'sec-fetch-site': 'same-origin' }, true],
  ['who typed the address to read', 'GET', { 'sec-fetch-site': 'none' }, true],
  ['another site that reads', 'GET', { 'sec-fetch-site': 'cross-site' }, false],
  ['another page that reads', 'GET', { origin: 'http://localhost:7332' }, false],
])('takes or refuses %s', (_, method, headers, isTaken) => {
  expect(isOwnPage({ method, headers }, local)).toBe(isTaken);
});
