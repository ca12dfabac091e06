import { expect, test } from 'vitest';

import type { Caller } from '../../model/caller.ts';
import { Entering, isMcpPath } from './entering.ts';

const caller: Caller = { id: 'key:anna', via: 'http', profile: 'default' };
const bound = { caller: { ...caller, profile: 'reading' }, isBound: true };
const entering = new Entering({
  hasProfile: (name) => name === 'reading' || name === 'writing',
  hasServer: (name, { profile }) => name === 'files' && profile !== 'writing',
});

test('a caller that is bound to a profile finds no other', () => {
  expect(entering.at('/mcp', bound)).toBe(bound.caller);
  expect(entering.at('/mcp/p/reading', bound)).toBe(bound.caller);
  for (const path of ['/mcp/p/writing', '/mcp/p/default', '/mcp/p/unheard-of'])
    expect(entering.at(path, bound)).toBeUndefined();
  expect(entering.at('/mcp/p/writing', { caller, isBound: true })).toBeUndefined();
});

test('a caller that is bound to none may choose one, and is one object there', () => {
  const free = { caller, isBound: false };
  expect(entering.at('/mcp/p/reading', free)).toEqual({ ...caller, profile: 'reading' });
  expect(entering.at('/mcp/p/reading', free)).toBe(entering.at('/mcp/p/reading', free));
  expect(entering.at('/mcp/p/unheard-of', free)).toBeUndefined();
});

test('a server that a caller may not know of is not there', () => {
  expect(entering.at('/mcp/s/files', bound)).toBe(bound.caller);
  expect(entering.at('/mcp/s/unheard-of', bound)).toBeUndefined();
  expect(
    entering.at('/mcp/s/files', { caller: { ...caller, profile: 'writing' }, isBound: true }),
  ).toBeUndefined();
});

test('paths are MCP or not whatever there is behind them', () => {
  for (const path of ['/mcp', '/sse', '/messages', '/mcp/s/x', '/mcp/p/x'])
    expect(isMcpPath(path)).toBe(true);
  for (const path of ['/', '/mcp/', '/mcp/x', '/api/status', '/mcp/p/a/b'])
    expect(isMcpPath(path)).toBe(false);
});
