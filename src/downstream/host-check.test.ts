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
    expect(check.readableBy('https://app.example:443')).toBe('https://app.example');
    expect(check.readableBy('HTTPS://APP.example/path?x')).toBe('https://app.example');
    expect(check.readableBy('https://app.example:444')).toBeUndefined();
    expect(check.readableBy('http://user@evil.example#localhost')).toBeUndefined();
    expect(check.readableBy('http://[')).toBeUndefined();
  });

  it('lets a page of this machine ask here, but neither read nor ask through a public name', () => {
    expect(check.problem('127.0.0.1:1', 'HTTP://LOCALHOST:80')).toBeUndefined();
    expect(check.readableBy('http://localhost')).toBeUndefined();
    expect(check.problem('gw.example', 'http://localhost')).toBe('origin');
  });

  it('answers to its public address and to the address that the request came to', () => {
    const known = hostCheck({ allowedHosts: [], allowedOrigins: [], publicUrl: 'https://mcp.example:8443' });
    expect(known.problem('mcp.example:8443', 'https://mcp.example:8443')).toBeUndefined();
    expect(known.problem('mcp.example', undefined)).toBe('host');
    expect(known.problem('mcp.example:8443', 'https://mcp.example')).toBe('origin');
    expect(known.problem('10.1.2.3:7332', undefined, { localAddress: '::ffff:10.1.2.3' })).toBeUndefined();
    expect(known.problem('[fd00::1]:7332', undefined, { localAddress: 'fd00::1' })).toBeUndefined();
    expect(known.problem('10.1.2.4:7332', undefined, { localAddress: '::ffff:10.1.2.3' })).toBe('host');
  });
});
