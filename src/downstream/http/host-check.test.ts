import { describe, expect, it } from 'vitest';

import { hostCheck } from './host-check.ts';

const check = hostCheck({
  allowedHosts: ['gw.example', 'pinned.example:8443'],
  allowedOrigins: ['https://app.example/'],
});

describe('Host and Origin check', () => {
  it.each(['gw.example', 'GW.example:1', 'pinned.example:8443', '127.0.0.2:9'])(
    'host check: accepts the host %s',
    (host) => {
      expect(check.findForbiddenHeader(host, undefined)).toBeUndefined();
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
  ])('host check: rejects the host %s', (host) => {
    expect(check.findForbiddenHeader(host, undefined)).toBe('host');
  });

  it('origin check: returns an allowed origin in canonical form', () => {
    expect(check.readableBy('https://app.example:443')).toBe('https://app.example');
    expect(check.readableBy('HTTPS://APP.example/path?x')).toBe('https://app.example');
    expect(check.readableBy('https://app.example:444')).toBeUndefined();
    expect(check.readableBy('http://user@evil.example#localhost')).toBeUndefined();
    expect(check.readableBy('http://[')).toBeUndefined();
  });

  it('origin check: accepts a local page at a local address only and does not let it read', () => {
    expect(check.findForbiddenHeader('127.0.0.1:1', 'HTTP://LOCALHOST:80')).toBeUndefined();
    expect(check.readableBy('http://localhost')).toBeUndefined();
    expect(check.findForbiddenHeader('gw.example', 'http://localhost')).toBe('origin');
  });

  it.each([
    ['cross-site', '127.0.0.1:1', true],
    ['cross-site', 'gw.example', true],
    ['same-site', 'gw.example', true],
    [['none', 'cross-site'], '127.0.0.1:1', true],
    ['same-site', 'localhost:1', false],
    ['same-origin', 'gw.example', false],
    ['none', 'gw.example', false],
    [undefined, 'gw.example', false],
  ])(
    'site check: a request without an Origin from %j to %s comes from a foreign page: %s',
    (site, host, expected) => {
      expect(check.isForeignPage(host, site)).toBe(expected);
    },
  );

  it('host check: accepts the public URL and the local address of the connection', () => {
    const known = hostCheck({ allowedHosts: [], allowedOrigins: [], publicUrl: 'https://mcp.example:8443' });
    expect(known.findForbiddenHeader('mcp.example:8443', 'https://mcp.example:8443')).toBeUndefined();
    expect(known.findForbiddenHeader('mcp.example', undefined)).toBe('host');
    expect(known.findForbiddenHeader('mcp.example:8443', 'https://mcp.example')).toBe('origin');
    expect(
      known.findForbiddenHeader('10.1.2.3:7332', undefined, { localAddress: '::ffff:10.1.2.3' }),
    ).toBeUndefined();
    expect(
      known.findForbiddenHeader('[fd00::1]:7332', undefined, { localAddress: 'fd00::1' }),
    ).toBeUndefined();
    expect(known.findForbiddenHeader('10.1.2.4:7332', undefined, { localAddress: '::ffff:10.1.2.3' })).toBe(
      'host',
    );
  });
});
