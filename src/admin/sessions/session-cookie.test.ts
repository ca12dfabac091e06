import { expect, test } from 'vitest';

import { isSameOriginRequest, formatSessionCookie, readSessionToken } from './session-cookie.ts';

const local = { origin: 'http://127.0.0.1:7332', port: '7332' };
const proxied = { origin: 'https://mcp.example.com', port: '7332' };

test('session cookie: is host-only, HttpOnly and SameSite=Strict, and Secure over HTTPS', () => {
  const cookie = formatSessionCookie(local, 'abc');
  expect(cookie).toBe('trunkline_7332=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000');
  expect(formatSessionCookie(proxied, 'abc')).toMatch(/^__Host-trunkline=abc; Path=\/; .*; Secure$/);
  expect(formatSessionCookie(local, undefined)).toContain(
    'trunkline_7332=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  );
});

test('session cookie: finds the token among other cookies', () => {
  expect(readSessionToken({ cookie: 'a=b; trunkline_7332=t-o_k; c=d' }, local)).toBe('t-o_k');
  expect(readSessionToken({ cookie: 'trunkline_7333=other' }, local)).toBeUndefined();
  expect(readSessionToken({ cookie: 'trunkline_7332=plain' }, proxied)).toBeUndefined();
  expect(readSessionToken({}, local)).toBeUndefined();
});

const own = { origin: local.origin, 'sec-fetch-site': 'same-origin', 'x-trunkline': '1' };

test.each([
  ['accepts a POST from the dashboard', 'POST', own, true],
  [
    'accepts a POST from an older browser without Sec-Fetch-Site',
    'POST',
    { origin: own.origin, 'x-trunkline': '1' },
    true,
  ],
  [
    'rejects a POST from another port of this machine',
    'POST',
    { ...own, origin: 'http://127.0.0.1:9999' },
    false,
  ],
  [
    'rejects a POST from another site',
    'POST',
    { ...own, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    false,
  ],
  [
    'rejects a POST that the browser marks as same-site',
    'POST',
    { ...own, 'sec-fetch-site': 'same-site' },
    false,
  ],
  [
    'rejects a POST without the X-Trunkline header',
    'POST',
    { origin: own.origin, 'sec-fetch-site': 'same-origin' },
    false,
  ],
  ['rejects a POST without an Origin header', 'POST', { 'x-trunkline': '1' }, false],
  ['rejects a DELETE with an opaque origin', 'DELETE', { ...own, origin: 'null' }, false],
  ['rejects a POST from a direct navigation', 'POST', { ...own, 'sec-fetch-site': 'none' }, false],
  ['accepts a GET from the dashboard', 'GET', { 'sec-fetch-site': 'same-origin' }, true],
  ['accepts a GET from a direct navigation', 'GET', { 'sec-fetch-site': 'none' }, true],
  ['rejects a GET from another site', 'GET', { 'sec-fetch-site': 'cross-site' }, false],
  ['rejects a GET from another origin', 'GET', { origin: 'http://localhost:7332' }, false],
])('same-origin check: %s', (_, method, headers, isAccepted) => {
  expect(isSameOriginRequest({ method, headers }, local)).toBe(isAccepted);
});
