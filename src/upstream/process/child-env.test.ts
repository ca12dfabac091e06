import { describe, expect, test } from 'vitest';

import { childEnv } from './child-env.ts';

describe('childEnv', () => {
  test('hands down what programs need to run and nothing else', () => {
    const ours = {
      HOME: '/home/a',
      PATH: '/bin',
      LC_ALL: 'C',
      https_proxy: 'http://proxy',
      AWS_SECRET_ACCESS_KEY: 'secret',
      GITHUB_TOKEN: 'secret',
      NODE_OPTIONS: '--inspect',
      TRUNKLINE_CONFIG: '/x',
      TZ: undefined,
    };
    expect(childEnv({ ours, path: undefined, configured: {} })).toEqual({
      HOME: '/home/a',
      PATH: '/bin',
      LC_ALL: 'C',
      https_proxy: 'http://proxy',
    });
  });

  test('gives what is configured, whatever it is, and lets it win', () => {
    const env = childEnv({
      ours: { HOME: '/home/a', LANG: 'C' },
      path: '/found',
      configured: { HOME: '/elsewhere', PATH: '/own', API_KEY: 'k' },
    });
    expect(env).toEqual({ HOME: '/elsewhere', LANG: 'C', PATH: '/own', API_KEY: 'k' });
  });

  test('uses the path that the login shell knows', () => {
    expect(childEnv({ ours: { PATH: '/bin' }, path: '/bin:/opt/bin', configured: {} })).toEqual({
      PATH: '/bin:/opt/bin',
    });
  });

  test('hands down no exported shell function', () => {
    expect(
      childEnv({ ours: { LC_X: '() { :; }', TERM: '() { :; }; evil' }, path: undefined, configured: {} }),
    ).toEqual({});
  });
});
