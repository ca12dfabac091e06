import { describe, expect, test } from 'vitest';

import type { GatewayRecord } from './gateway-record.ts';
import { hashIdentity, matchesIdentity } from './gateway-identity.ts';
import type { SharedGatewayIdentity } from './gateway-identity.ts';

const identity: SharedGatewayIdentity = {
  version: '1.0.0',
  config: '/home/config.jsonc',
  text: '{ "env": { "A": "${env:A_TOKEN}" } }',
};
const record: GatewayRecord = {
  ...hashIdentity(identity),
  socket: '/s',
  pid: 1,
  kind: 'background',
  since: 0,
};

describe('gateway identity', () => {
  test('gateway identity: matches for the same version, configuration path and text', () => {
    expect(matchesIdentity(record, { ...identity })).toBe(true);
  });

  test.each<[string, Partial<SharedGatewayIdentity>]>([
    ['version', { version: '1.0.1' }],
    ['configuration path', { config: '/home/other.jsonc' }],
    ['configuration text', { text: `${identity.text} ` }],
  ])('gateway identity: does not match for a different %s', (_what, changes) => {
    expect(matchesIdentity(record, { ...identity, ...changes })).toBe(false);
  });
});
