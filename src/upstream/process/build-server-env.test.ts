import { describe, expect, test } from 'vitest';

import { buildServerEnv } from './build-server-env.ts';

describe('childEnv', () => {
  test('child environment: passes on only what programs need to run', () => {
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
    expect(buildServerEnv({ ours, path: undefined, configured: {} })).toEqual({
      HOME: '/home/a',
      PATH: '/bin',
      LC_ALL: 'C',
      https_proxy: 'http://proxy',
    });
  });

  test('child environment: lets configured variables win', () => {
    const env = buildServerEnv({
      ours: { HOME: '/home/a', LANG: 'C' },
      path: '/found',
      configured: { HOME: '/elsewhere', PATH: '/own', API_KEY: 'k' },
    });
    expect(env).toEqual({ HOME: '/elsewhere', LANG: 'C', PATH: '/own', API_KEY: 'k' });
  });

  test('child environment: uses the PATH of the login shell', () => {
    expect(buildServerEnv({ ours: { PATH: '/bin' }, path: '/bin:/opt/bin', configured: {} })).toEqual({
      PATH: '/bin:/opt/bin',
    });
  });

  test('child environment: drops exported shell functions', () => {
    expect(
      buildServerEnv({
        ours: { LC_X: '() { :; }', TERM: '() { :; }; evil' },
        path: undefined,
        configured: {},
      }),
    ).toEqual({});
  });
});
