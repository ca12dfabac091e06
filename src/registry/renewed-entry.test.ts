import { describe, expect, test } from 'vitest';

import { renewedEntry } from './renewed-entry.ts';
import type { RegistryEntry } from './registry-entry.ts';

const none = { needs: [], takes: [] };
const npm: RegistryEntry = {
  ...none,
  package: '@me/weather',
  entry: { command: 'npx', args: ['-y', '@me/weather@2.0.0'], env: { KEY: '${env:KEY}' }, registry: 'x/y' },
};
const address: RegistryEntry = {
  ...none,
  entry: { type: 'http', url: 'https://new.example/mcp', headers: { 'X-Key': '${env:X_KEY}' } },
};

describe('a program', () => {
  test.each([
    { args: ['-y', '@me/weather@1.0.0'], version: '1.0.0', to: ['-y', '@me/weather@2.0.0'] },
    { args: ['-y', '@me/weather'], version: undefined, to: ['-y', '@me/weather@2.0.0'] },
    { args: ['@me/weather@1', '--own'], version: '1', to: ['@me/weather@2.0.0', '--own'] },
  ])('$args becomes $to', ({ args, version, to }) => {
    const current = { command: 'npx', args, env: { KEY: 'mine' } };
    expect(renewedEntry(current, npm)).toEqual({
      changes: { args: to },
      added: [],
      isOtherKind: false,
      reached: { from: `npx ${args.find((word) => word.startsWith('@me'))}`, to: 'npx -y @me/weather@2.0.0' },
      ...(version !== undefined && { version }),
    });
  });

  test('of the newest version has nothing to change', () => {
    expect(renewedEntry({ ...npm.entry }, npm)).toMatchObject({ changes: {}, version: '2.0.0' });
  });

  test('of an image keeps what is before and behind it', () => {
    const fresh = {
      ...none,
      package: 'me/weather',
      entry: { command: 'docker', args: ['run', '-i', '--rm', 'me/weather:2'] },
    };
    const current = { command: 'docker', args: ['run', '-i', '-v', '/a:/b', 'me/weather:1', 'x'] };
    expect(renewedEntry(current, fresh)).toMatchObject({
      changes: { args: ['run', '-i', '-v', '/a:/b', 'me/weather:2', 'x'] },
      version: '1',
    });
  });

  test.each([
    { command: 'node', args: ['-y', '@me/weather@1.0.0'] },
    { command: 'npx', args: ['-y', '@me/weather-fork@1.0.0'] },
    { command: 'npx' },
  ])('that somebody changed is left alone: $command $args', (current) => {
    expect(renewedEntry(current, npm)).toEqual({ problem: 'its command was changed by hand' });
  });

  test('keeps values, drops its own references that nobody asks for, adds what is new', () => {
    const env = { OLD: '${env:OLD}', FILLED: 'secret', MINE: '${env:OTHER}' };
    const current = { command: 'npx', args: ['@me/weather@2.0.0'], env };
    expect(renewedEntry(current, npm)).toMatchObject({
      changes: { env: { FILLED: 'secret', MINE: '${env:OTHER}', KEY: '${env:KEY}' } },
      added: ['KEY'],
    });
  });
});

describe('an address', () => {
  test('follows the registry, and says from where to where without what may be secret', () => {
    const url = 'https://me:hush@new.example/sse?key=hush';
    const current = { type: 'sse', url, headers: { 'X-Key': 'mine' } };
    expect(renewedEntry(current, address)).toEqual({
      changes: { type: 'http', url: 'https://new.example/mcp' },
      added: [],
      isOtherKind: false,
      reached: { from: 'https://new.example/sse', to: 'https://new.example/mcp' },
    });
  });

  test.each([
    'https://old.example/mcp',
    'http://new.example/mcp',
    'https://new.example:8443/mcp',
    'https://${env:TENANT}.example/mcp',
  ])('of another host (%s) takes no header along, nor a reference to the same secret', (url) => {
    const headers = { 'X-Key': '${env:X_KEY}', Authorization: 'Bearer mine' };
    const current = { url, headers, auth: { clientSecret: 'x' }, tags: ['t'] };
    const renewed = renewedEntry(current, address);
    expect(renewed).toMatchObject({
      added: [],
      dropped: ['X-Key', 'Authorization', 'auth'],
      reached: { to: 'https://new.example/mcp' },
    });
    expect('changes' in renewed && Object.entries(renewed.changes)).toEqual([
      ['headers', undefined],
      ['auth', undefined],
      ['url', 'https://new.example/mcp'],
      ['type', 'http'],
    ]);
  });

  test('that was filled in stays', () => {
    const fresh = { ...none, entry: { type: 'http', url: 'https://${env:TENANT}.example/mcp' } };
    expect(renewedEntry({ url: 'https://mine.example/mcp' }, fresh)).toMatchObject({ changes: {} });
  });

  test('that becomes a program loses what only an address has', () => {
    const current = { url: 'https://x.example', headers: { A: 'b' }, tags: ['t'] };
    expect(renewedEntry(current, npm)).toMatchObject({
      isOtherKind: true,
      changes: { url: undefined, headers: undefined, command: 'npx' },
    });
  });
});
