import { describe, expect, test } from 'vitest';
import type { ServerFacts } from '../../core/server-facts.ts';
import { mustServerAnswer, canPassBetween } from './pass-through.ts';

describe('passesBetween', () => {
  test('pass-through: forwards unknown methods between any two protocol eras', () => {
    expect(canPassBetween('vendor/x', 'legacy', 'modern')).toBe(true);
    expect(canPassBetween('vendor/x', 'modern', 'legacy')).toBe(true);
  });

  test('pass-through: forwards methods of a single era only within that era', () => {
    for (const method of ['ping', 'logging/setLevel', 'tasks/get', 'tasks/result', 'tasks/update']) {
      expect(canPassBetween(method, 'legacy', 'legacy'), method).toBe(true);
      expect(canPassBetween(method, 'modern', 'modern'), method).toBe(true);
      expect(canPassBetween(method, 'legacy', 'modern'), method).toBe(false);
      expect(canPassBetween(method, 'modern', 'legacy'), method).toBe(false);
    }
  });

  test('pass-through: never forwards methods that open a connection', () => {
    for (const method of ['initialize', 'server/discover', 'subscriptions/listen'])
      expect(canPassBetween(method, 'legacy', 'legacy'), method).toBe(false);
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
    mustServerAnswer(method, params, { era, facts });

  test('single server: forwards lists that the server does not offer, and foreign cursors', () => {
    expect(left('tools/list')).toBe(false);
    expect(left('prompts/list')).toBe(true);
    expect(left('prompts/list', {}, 'modern')).toBe(true);
    expect(left('resources/list')).toBe(false);
    expect(left('resources/templates/list')).toBe(true);
    expect(left('tools/list', { cursor: 'x' })).toBe(true);
  });

  test('single server: forwards log levels that the server does not support or know', () => {
    expect(left('logging/setLevel', { level: 'info' })).toBe(true);
    expect(left('resources/subscribe', { uri: 'x' })).toBe(false);
    const logging = { ...facts, capabilities: { logging: {} } };
    expect(mustServerAnswer('logging/setLevel', { level: 'info' }, { era: 'legacy', facts: logging })).toBe(
      false,
    );
    expect(mustServerAnswer('logging/setLevel', { level: 'loud' }, { era: 'legacy', facts: logging })).toBe(
      true,
    );
  });

  test('single server: forwards requests without a name when both sides use the legacy era', () => {
    expect(left('tools/call', { name: 'x' })).toBe(false);
    expect(left('tools/call', {})).toBe(true);
    expect(left('completion/complete', { ref: 1 })).toBe(true);
    expect(left('tools/call', {}, 'modern')).toBe(false);
  });
});
