import { describe, expect, test } from 'vitest';
import type { ServerFacts } from '../../model/server-facts.ts';
import { leftToServer, passesBetween } from './pass-through.ts';

describe('passesBetween', () => {
  test('what nobody knows passes, whatever the eras', () => {
    expect(passesBetween('vendor/x', 'legacy', 'modern')).toBe(true);
    expect(passesBetween('vendor/x', 'modern', 'legacy')).toBe(true);
  });

  test('what only one era has passes within it', () => {
    for (const method of ['ping', 'logging/setLevel', 'tasks/get', 'tasks/result', 'tasks/update']) {
      expect(passesBetween(method, 'legacy', 'legacy'), method).toBe(true);
      expect(passesBetween(method, 'modern', 'modern'), method).toBe(true);
      expect(passesBetween(method, 'legacy', 'modern'), method).toBe(false);
      expect(passesBetween(method, 'modern', 'legacy'), method).toBe(false);
    }
  });

  test('an opening is never passed on', () => {
    for (const method of ['initialize', 'server/discover', 'subscriptions/listen'])
      expect(passesBetween(method, 'legacy', 'legacy'), method).toBe(false);
  });
});

describe('leftToServer', () => {
  const facts: ServerFacts = {
    era: 'legacy',
    protocol: '2025-11-25',
    info: {},
    capabilities: { tools: {}, resources: {} },
    unserved: ['resources/templates/list'],
  };
  const left = (method: string, params = {}, era: 'legacy' | 'modern' = 'legacy'): boolean =>
    leftToServer(method, params, { era, facts });

  test('lists that the server has not declared or does not know, and cursors that are not ours', () => {
    expect(left('tools/list')).toBe(false);
    expect(left('prompts/list')).toBe(true);
    expect(left('prompts/list', {}, 'modern')).toBe(true);
    expect(left('resources/list')).toBe(false);
    expect(left('resources/templates/list')).toBe(true);
    expect(left('tools/list', { cursor: 'x' })).toBe(true);
  });

  test('log levels, where it has none or the level is none', () => {
    expect(left('logging/setLevel', { level: 'info' })).toBe(true);
    expect(left('resources/subscribe', { uri: 'x' })).toBe(false);
    const logging = { ...facts, capabilities: { logging: {} } };
    expect(leftToServer('logging/setLevel', { level: 'info' }, { era: 'legacy', facts: logging })).toBe(
      false,
    );
    expect(leftToServer('logging/setLevel', { level: 'loud' }, { era: 'legacy', facts: logging })).toBe(true);
  });

  test('requests that do not say what they are about, within the older era', () => {
    expect(left('tools/call', { name: 'x' })).toBe(false);
    expect(left('tools/call', {})).toBe(true);
    expect(left('completion/complete', { ref: 1 })).toBe(true);
    expect(left('tools/call', {}, 'modern')).toBe(false);
  });
});
