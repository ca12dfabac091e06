import { describe, expect, test } from 'vitest';

import type { Fingerprint } from '../core/ids.ts';
import type { GatewayConfig } from './config.ts';
import { validateConfig } from './validate-config.ts';

const mcpServers = {
  github: { command: 'a', tags: ['code'] },
  broken: { nonsense: 1 },
};

function read(settings: object): GatewayConfig {
  const text = JSON.stringify({ mcpServers, ...settings }, undefined, 1);
  return validateConfig({ file: '/c.jsonc', text, revision: '' as Fingerprint }).value;
}

function problemOf(settings: object): unknown {
  try {
    read(settings);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('rules and profiles', () => {
  test('policy: allows everything by default', () => {
    expect(read({})).toMatchObject({ policy: { default: 'allow', rules: [] }, profiles: {} });
  });

  test('policy: reads rules and profiles with exactly the given conditions', () => {
    const { policy, profiles } = read({
      profiles: { work: { description: 'W.', servers: ['git*'], tiers: ['read'], expose: 'search' } },
      policy: {
        default: 'deny',
        rules: [{ id: 'a', effect: 'ask', groups: ['x'], profiles: ['work'], names: ['*'], message: 'M.' }],
      },
    });
    expect(policy).toEqual({
      ask: { by: ['person'], waitMs: 120_000 },
      default: 'deny',
      rules: [
        {
          id: 'a',
          effect: 'ask',
          who: { groups: ['x'], profiles: ['work'] },
          what: { names: ['*'] },
          message: 'M.',
        },
      ],
    });
    expect(profiles).toEqual({
      work: { description: 'W.', what: { servers: ['git*'], tiers: ['read'] }, expose: 'search' },
    });
  });

  test('policy: may refer to a server whose entry is invalid', () => {
    expect(problemOf({ profiles: { a: { servers: ['broken'] } } })).toBeUndefined();
  });

  test.each([
    [{ profiles: { a: { servers: ['githib'] } } }, 'there is no server "githib"; did you mean "github"?'],
    [{ profiles: { a: { tags: ['cod'] } } }, 'there is no tag "cod"; did you mean "code"?'],
    [
      { policy: { rules: [{ id: 'a', effect: 'deny', profiles: ['wor'] }] }, profiles: { work: {} } },
      'there is no profile "wor"; did you mean "work"?',
    ],
    [
      {
        policy: {
          rules: [
            { id: 'a', effect: 'deny' },
            { id: 'a', effect: 'allow' },
          ],
        },
      },
      'two rules have the id "a"',
    ],
    [{ policy: { rules: [{ id: 'a', effect: 'deny', servers: [] }] } }, 'policy.rules[0].servers'],
    [{ policy: { rules: [{ id: 'a', effect: 'deny', tiers: ['reed'] }] } }, 'tiers'],
    [{ policy: { rules: [{ id: 'a', effect: 'deny', user: ['x'] }] } }, 'user'],
    [{ profiles: { '../x': {} } }, 'letters'],
  ])('policy: rejects %j', (settings, message) => {
    expect(problemOf(settings)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message) as string,
    });
  });

  test('policy: reports the path of an unknown name', () => {
    const error = problemOf({ profiles: { a: { servers: ['githib'] } } });
    expect(error).toMatchObject({ details: { path: 'profiles.a.servers[0]' } });
  });
});
