import { describe, expect, test } from 'vitest';

import type { Fingerprint } from '../../core/ids.ts';
import type { ConfigSnapshot } from '../config.ts';
import { validateConfig } from '../validate-config.ts';
import { diffConfig } from './diff-config.ts';

const snapshot = (value: object): ConfigSnapshot =>
  validateConfig({
    file: '/etc/trunkline/config.jsonc',
    text: JSON.stringify(value),
    revision: 'revision' as Fingerprint,
  });
const servers = (mcpServers: object): ConfigSnapshot => snapshot({ mcpServers });
const NOTHING = { added: [], reopened: [], adjusted: [], left: [], gone: [], settings: [] };

describe('config difference', () => {
  test('config diff: is empty when only comments, order or formatting differ', () => {
    const one = snapshot({ mcpServers: { a: { command: 'a' }, b: { url: 'http://x' } }, idle: '5m' });
    const other = snapshot({
      idle: '300s',
      mcpServers: { a: { command: 'a', args: [] }, b: { url: 'http://x' } },
    });
    expect(diffConfig(one, other)).toEqual(NOTHING);
  });

  test.each([
    ['command', { command: 'b' }],
    ['arguments', { command: 'a', args: ['x'] }],
    ['environment', { command: 'a', env: { A: '1' } }],
    ['env file', { command: 'a', envFile: '.env' }],
    ['folder', { command: 'a', cwd: '/' }],
    ['era', { command: 'a', era: 'legacy' }],
    ['share', { command: 'a', share: 'session' }],
    ['transport', { url: 'http://x' }],
  ])('config diff: reopens only the server with a changed %s', (_, after) => {
    const diff = diffConfig(
      servers({ a: { command: 'a' }, b: { command: 'b' } }),
      servers({ a: after, b: { command: 'b' } }),
    );
    expect(diff).toEqual({ ...NOTHING, reopened: ['a'] });
  });

  test('config diff: reopens a server with changed auth settings', () => {
    const diff = diffConfig(
      servers({ a: { url: 'http://x' } }),
      servers({ a: { url: 'http://x', auth: { scopes: ['y'] } } }),
    );
    expect(diff).toEqual({ ...NOTHING, reopened: ['a'] });
  });

  test.each([
    { description: 'x' },
    { tags: ['x'] },
    { tools: { deny: ['x'] } },
    { tools: { tiers: { x: 'read' } } },
    { limits: { concurrency: 1 } },
    { timeouts: { call: '1s' } },
    { idle: 'never' },
    { trust: 'scan' },
    { redact: { results: 'report' } },
    { argumentRules: false },
  ])('config diff: keeps the connection of a server with a changed %o', (change) => {
    const diff = diffConfig(servers({ a: { command: 'a' } }), servers({ a: { command: 'a', ...change } }));
    expect(diff).toEqual({ ...NOTHING, adjusted: ['a'] });
  });

  test('config diff: distinguishes removed servers from disabled or invalid ones', () => {
    const before = servers({
      a: { command: 'a' },
      b: { command: 'b' },
      c: { command: 'c' },
      d: { command: 'd', enabled: false },
    });
    const after = servers({ b: { command: 'b', enabled: false }, c: { comand: 'c' }, e: { command: 'e' } });
    expect(diffConfig(before, after)).toEqual({
      ...NOTHING,
      added: ['e'],
      left: ['a', 'b', 'c'],
      gone: ['a', 'd'],
    });
  });

  test('config diff: names every changed setting, including added and removed ones', () => {
    const before = snapshot({ names: { separator: '.' } });
    const after = snapshot({ auth: { keys: true }, log: { level: 'debug' } });
    expect(diffConfig(before, after).settings.toSorted()).toEqual(['auth', 'log', 'names']);
  });

  test('config diff: adjusts servers when an inherited top-level setting changes', () => {
    const before = snapshot({ mcpServers: { a: { command: 'a' } } });
    const after = snapshot({ mcpServers: { a: { command: 'a' } }, timeouts: { call: '5s' } });
    expect(diffConfig(before, after)).toEqual({ ...NOTHING, adjusted: ['a'] });
  });
});
