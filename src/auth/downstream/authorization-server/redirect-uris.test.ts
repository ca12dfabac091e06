import { expect, test } from 'vitest';

import { isSameRedirect, isUsableRedirect, buildRedirect } from './redirect-uris.ts';

test.each([
  'https://app.test/cb',
  'http://127.0.0.1:5/cb',
  'http://[::1]/cb',
  'http://localhost/',
  'cursor://x/cb',
])('redirect URI: accepts %s', (uri) => expect(isUsableRedirect(uri)).toBe(true));

test.each([
  'javascript:alert(1)',
  'JAVASCRIPT:x',
  'data:,x',
  'http://app.test/',
  'http://127.0.0.1.evil.test/',
  'https://a.test/#x',
  'https://a.test/#',
  'https://u@a.test/',
  'https://a.test/ x',
  '/cb',
  'https://a.test/;x',
])('redirect URI: rejects %s', (uri) => expect(isUsableRedirect(uri)).toBe(false));

test('redirect URI: ignores the port for loopback addresses only', () => {
  expect(isSameRedirect('http://127.0.0.1/cb', 'http://127.0.0.1:5123/cb')).toBe(true);
  expect(isSameRedirect('http://127.0.0.1:1/cb', 'http://127.0.0.1:2/cb')).toBe(true);
  expect(isSameRedirect('http://127.0.0.1/cb', 'http://127.0.0.1:5123/other')).toBe(false);
  expect(isSameRedirect('http://127.0.0.1/cb', 'http://localhost/cb')).toBe(false);
  expect(isSameRedirect('https://app.test/cb', 'https://app.test:444/cb')).toBe(false);
  expect(isSameRedirect('https://app.test/cb', 'https://app.test/cb/')).toBe(false);
  expect(isSameRedirect('https://app.test/cb', 'https://app.test/cb?x=1')).toBe(false);
});

test('redirect URI: keeps its own query parameters', () => {
  expect(buildRedirect('https://app.test/cb?a=1', { code: 'x', state: undefined })).toBe(
    'https://app.test/cb?a=1&code=x',
  );
});
