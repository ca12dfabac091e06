import { describe, expect, test } from 'vitest';

import { planEntryUpdate } from './plan-entry-update.ts';
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

describe('command entries', () => {
  test.each([
    { args: ['-y', '@me/weather@1.0.0'], version: '1.0.0', to: ['-y', '@me/weather@2.0.0'] },
    { args: ['-y', '@me/weather'], version: undefined, to: ['-y', '@me/weather@2.0.0'] },
    { args: ['@me/weather@1', '--own'], version: '1', to: ['@me/weather@2.0.0', '--own'] },
  ])('registry update: changes $args to $to', ({ args, version, to }) => {
    const current = { command: 'npx', args, env: { KEY: 'mine' } };
    expect(planEntryUpdate(current, npm)).toEqual({
      changes: { args: to },
      added: [],
      isKindChanged: false,
      target: { from: `npx ${args.find((word) => word.startsWith('@me'))}`, to: 'npx -y @me/weather@2.0.0' },
      ...(version !== undefined && { version }),
    });
  });

  test('registry update: changes nothing at the newest version', () => {
    expect(planEntryUpdate({ ...npm.entry }, npm)).toMatchObject({ changes: {}, version: '2.0.0' });
  });

  test('registry update: replaces the image of a docker command and keeps the other arguments', () => {
    const fresh = {
      ...none,
      package: 'me/weather',
      entry: { command: 'docker', args: ['run', '-i', '--rm', 'me/weather:2'] },
    };
    const current = { command: 'docker', args: ['run', '-i', '-v', '/a:/b', 'me/weather:1', 'x'] };
    expect(planEntryUpdate(current, fresh)).toMatchObject({
      changes: { args: ['run', '-i', '-v', '/a:/b', 'me/weather:2', 'x'] },
      version: '1',
    });
  });

  test.each([
    { command: 'node', args: ['-y', '@me/weather@1.0.0'] },
    { command: 'npx', args: ['-y', '@me/weather-fork@1.0.0'] },
    { command: 'npx' },
  ])('registry update: rejects a command that was edited by hand: $command $args', (current) => {
    expect(planEntryUpdate(current, npm)).toEqual({ problem: 'its command was changed by hand' });
  });

  test('registry update: keeps env values, drops obsolete references and adds new ones', () => {
    const env = { OLD: '${env:OLD}', FILLED: 'secret', MINE: '${env:OTHER}' };
    const current = { command: 'npx', args: ['@me/weather@2.0.0'], env };
    expect(planEntryUpdate(current, npm)).toMatchObject({
      changes: { env: { FILLED: 'secret', MINE: '${env:OTHER}', KEY: '${env:KEY}' } },
      added: ['KEY'],
    });
  });
});

describe('remote entries', () => {
  test('registry update: follows a new URL and reports it without credentials', () => {
    const url = 'https://me:hush@new.example/sse?key=hush';
    const current = { type: 'sse', url, headers: { 'X-Key': 'mine' } };
    expect(planEntryUpdate(current, address)).toEqual({
      changes: { type: 'http', url: 'https://new.example/mcp' },
      added: [],
      isKindChanged: false,
      target: { from: 'https://new.example/sse', to: 'https://new.example/mcp' },
    });
  });

  test.each([
    'https://old.example/mcp',
    'http://new.example/mcp',
    'https://new.example:8443/mcp',
    'https://${env:TENANT}.example/mcp',
  ])('registry update: drops headers and auth when the origin changes from %s', (url) => {
    const headers = { 'X-Key': '${env:X_KEY}', Authorization: 'Bearer mine' };
    const current = { url, headers, auth: { clientSecret: 'x' }, tags: ['t'] };
    const renewed = planEntryUpdate(current, address);
    expect(renewed).toMatchObject({
      added: [],
      dropped: ['X-Key', 'Authorization', 'auth'],
      target: { to: 'https://new.example/mcp' },
    });
    expect('changes' in renewed && Object.entries(renewed.changes)).toEqual([
      ['headers', undefined],
      ['auth', undefined],
      ['url', 'https://new.example/mcp'],
      ['type', 'http'],
    ]);
  });

  test('registry update: keeps a URL whose variables were filled in', () => {
    const fresh = { ...none, entry: { type: 'http', url: 'https://${env:TENANT}.example/mcp' } };
    expect(planEntryUpdate({ url: 'https://mine.example/mcp' }, fresh)).toMatchObject({ changes: {} });
  });

  test('registry update: drops URL and headers when a remote becomes a command', () => {
    const current = { url: 'https://x.example', headers: { A: 'b' }, tags: ['t'] };
    expect(planEntryUpdate(current, npm)).toMatchObject({
      isKindChanged: true,
      changes: { url: undefined, headers: undefined, command: 'npx' },
    });
  });
});
