import { expect, test } from 'vitest';

import type { Caller } from '../../core/caller.ts';
import { CallerResolver } from './caller-resolver.ts';

const caller: Caller = { id: 'key:anna', via: 'http', profile: 'default' };
const bound = { caller: { ...caller, profile: 'reading' }, isBound: true };
const resolver = new CallerResolver({
  hasProfile: (name) => name === 'reading' || name === 'writing',
  hasServer: (name, { profile }) => name === 'files' && profile !== 'writing',
});

test('caller resolution: confines a bound caller to its profile', () => {
  expect(resolver.resolve('/mcp', bound)).toBe(bound.caller);
  expect(resolver.resolve('/mcp/p/reading', bound)).toBe(bound.caller);
  for (const path of ['/mcp/p/writing', '/mcp/p/default', '/mcp/p/unheard-of'])
    expect(resolver.resolve(path, bound)).toBeUndefined();
  expect(resolver.resolve('/mcp/p/writing', { caller, isBound: true })).toBeUndefined();
});

test('caller resolution: lets an unbound caller choose a profile and returns one object for it', () => {
  const unbound = { caller, isBound: false };
  expect(resolver.resolve('/mcp/p/reading', unbound)).toEqual({ ...caller, profile: 'reading' });
  expect(resolver.resolve('/mcp/p/reading', unbound)).toBe(resolver.resolve('/mcp/p/reading', unbound));
  expect(resolver.resolve('/mcp/p/unheard-of', unbound)).toBeUndefined();
});

test('caller resolution: hides a server that the caller may not see', () => {
  expect(resolver.resolve('/mcp/s/files', bound)).toBe(bound.caller);
  expect(resolver.resolve('/mcp/s/unheard-of', bound)).toBeUndefined();
  expect(
    resolver.resolve('/mcp/s/files', { caller: { ...caller, profile: 'writing' }, isBound: true }),
  ).toBeUndefined();
});
