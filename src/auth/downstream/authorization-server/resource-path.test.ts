import { expect, test } from 'vitest';

import { coversPath, resolveResourcePath } from './resource-path.ts';

const gateway = { issuer: 'https://gateway.example', host: 'gateway.example' };

test.each([
  ['no resource', undefined, ''],
  ['the gateway', 'https://gateway.example/', ''],
  ['one server', 'https://gateway.example/mcp/s/git', '/mcp/s/git'],
  ['another origin', 'https://other.example/mcp', undefined],
  ['another path', 'https://gateway.example/admin', undefined],
  ['a fragment', 'https://gateway.example/mcp#part', undefined],
  ['an address without an origin', 'foo:bar', undefined],
  ['text that is no address', 'gateway', undefined],
])('resource parameter: resolves %s', (_, resource, path) => {
  expect(resolveResourcePath(resource, gateway)).toBe(path);
});

test('resource parameter: accepts every loopback name of the same port', () => {
  const local = { issuer: 'http://127.0.0.1:7332', host: '127.0.0.1:7332' };
  expect(resolveResourcePath('http://localhost:7332/mcp', local)).toBe('/mcp');
  expect(resolveResourcePath('http://localhost:7333/mcp', local)).toBeUndefined();
});

test('token for a path: is valid at narrower paths only', () => {
  expect(coversPath('', '/mcp/s/git')).toBe(true);
  expect(coversPath('/mcp', '/mcp/s/git')).toBe(true);
  expect(coversPath('/mcp/s/git', '/mcp')).toBe(false);
  expect(coversPath('/sse', '/messages')).toBe(true);
});
