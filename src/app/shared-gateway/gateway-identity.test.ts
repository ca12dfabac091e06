import { describe, expect, test } from 'vitest';

import type { GatewayRecord } from './gateway-record.ts';
import { hashIdentity, matchesIdentity, findReferencedVariables } from './gateway-identity.ts';
import type { SharedGatewayIdentity } from './gateway-identity.ts';

const identity: SharedGatewayIdentity = {
  version: '1.0.0',
  config: '/home/config.jsonc',
  text: '{ "env": { "A": "${env:A_TOKEN}", "B": "${B:-none}" } }',
  env: { A_TOKEN: 'secret', TRUNKLINE_TOKENS_IT: 'seed', OTHER: 'x' },
};

function createRecord(source: SharedGatewayIdentity = identity): GatewayRecord {
  return { ...hashIdentity(source), socket: '/s', pid: 1, kind: 'background', since: 0 };
}

describe('gateway identity', () => {
  test('gateway identity: matches for the same version, configuration and referenced variables', () => {
    expect(matchesIdentity(createRecord(), { ...identity, env: { ...identity.env, OTHER: 'differs' } })).toBe(
      true,
    );
  });

  test.each<[string, Partial<SharedGatewayIdentity>]>([
    ['version', { version: '1.0.1' }],
    ['configuration path', { config: '/home/other.jsonc' }],
    ['configuration text', { text: `${identity.text} ` }],
    ['variable value', { env: { ...identity.env, A_TOKEN: 'other' } }],
    ['set of variables, with one missing', { env: { TRUNKLINE_TOKENS_IT: 'seed' } }],
    ['variable that has a default', { env: { ...identity.env, B: 'b' } }],
    ['server token', { env: { ...identity.env, TRUNKLINE_TOKENS_IT: 'other' } }],
    ['set of server tokens, with one missing', { env: { A_TOKEN: 'secret' } }],
    ['set of server tokens, with one added', { env: { ...identity.env, TRUNKLINE_TOKENS_OTHER: 'seed' } }],
    ['key location', { env: { ...identity.env, TRUNKLINE_KEYCHAIN: '1' } }],
  ])('gateway identity: does not match for a different %s', (_what, changes) => {
    expect(matchesIdentity(createRecord(), { ...identity, ...changes })).toBe(false);
  });

  test('gateway identity: an empty variable counts as an unset one, as it does in references', () => {
    expect(matchesIdentity(createRecord(), { ...identity, env: { ...identity.env, B: '' } })).toBe(true);
  });

  test('gateway identity: contains no secret and uses a new salt each time', () => {
    const [one, two] = [createRecord(), createRecord()];
    expect(JSON.stringify(one)).not.toMatch(/secret|seed/);
    expect(one.environment).not.toBe(two.environment);
  });
});

test('referenced variables: are found anywhere in the configuration text', () => {
  expect(findReferencedVariables('${A} ${env:B_C:-x} "${file:/f}" ${keychain:k} // ${env:A}')).toEqual([
    'A',
    'B_C',
  ]);
});
