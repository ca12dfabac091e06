import { describe, expect, it } from 'vitest';

import { hostCheck } from './host-check.ts';

const check = hostCheck({
  allowedHosts: ['gw.example', 'pinned.example:8443'],
  allowedOrigins: ['https://app.example/'],
});

describe('hostCheck', () => {
  it.each(['gw.example', 'GW.example:1', 'pinned.example:8443', '127.0.0.2:9'])(
    'allows the host %s',
    (host) => {
      expect(check.problem(host, undefined)).toBeUndefined();
    },
  );

  it.each([
    undefined,
    '',
    'pinned.example',
    'pinned.example:80',
    'xgw.example',
    '[::2]',
    '127.0.0.1@evil.example',
  ])('refuses the host %s', (host) => {
    expect(check.problem(host, undefined)).toBe('host');
  });

  it('gives an origin back in its canonical spelling only', () => {
    expect(check.readableBy('HTTP://LOCALHOST:80')).toBe('http://localhost');
    expect(check.readableBy('http://localhost/path?x')).toBe('http://localhost');
    expect(check.readableBy('https://app.example:443')).toBe('https://app.example');
    expect(check.readableBy('https://app.example:444')).toBeUndefined();
    expect(check.readableBy('http://user@evil.example#localhost')).toBeUndefined();
    expect(check.readableBy('http://[')).toBeUndefined();
  });
});
