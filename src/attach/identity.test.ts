import { describe, expect, test } from 'vitest';

import type { GatewayRecord } from './gateway-record.ts';
import { identified, isSame, referencedVariables } from './identity.ts';
import type { Identity } from './identity.ts';

const identity: Identity = {
  version: '1.0.0',
  config: '/home/config.jsonc',
  text: '{ "env": { "A": "${env:A_TOKEN}", "B": "${B:-none}" } }',
  env: { A_TOKEN: 'secret', TRUNKLINE_TOKENS_IT: 'seed', OTHER: 'x' },
};

function record(of: Identity = identity): GatewayRecord {
  return { ...identified(of), socket: '/s', pid: 1, kind: 'background', since: 0 };
}

describe('the identity of a gateway', () => {
  test('holds for the same version, configuration and values', () => {
    expect(isSame(record(), { ...identity, env: { ...identity.env, OTHER: 'differs' } })).toBe(true);
  });

  test.each<[string, Partial<Identity>]>([
    ['version', { version: '1.0.1' }],
    ['path', { config: '/home/other.jsonc' }],
    ['text', { text: `${identity.text} ` }],
    ['value of a variable', { env: { ...identity.env, A_TOKEN: 'other' } }],
    ['absent variable', { env: { TRUNKLINE_TOKENS_IT: 'seed' } }],
    ['variable that has a default', { env: { ...identity.env, B: '' } }],
    ['token of a server', { env: { ...identity.env, TRUNKLINE_TOKENS_IT: 'other' } }],
    ['absent token of a server', { env: { A_TOKEN: 'secret' } }],
    ['token of another server', { env: { ...identity.env, TRUNKLINE_TOKENS_OTHER: 'seed' } }],
    ['place of the key', { env: { ...identity.env, TRUNKLINE_KEYCHAIN: '1' } }],
  ])('does not hold for another %s', (_what, changes) => {
    expect(isSame(record(), { ...identity, ...changes })).toBe(false);
  });

  test('shows neither values nor the same hash twice', () => {
    const [one, two] = [record(), record()];
    expect(JSON.stringify(one)).not.toMatch(/secret|seed/);
    expect(one.environment).not.toBe(two.environment);
  });
});

test('references are found wherever they stand', () => {
  expect(referencedVariables('${A} ${env:B_C:-x} "${file:/f}" ${keychain:k} // ${env:A}')).toEqual([
    'A',
    'B_C',
  ]);
});
