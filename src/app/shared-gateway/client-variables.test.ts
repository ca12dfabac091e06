import { describe, expect, test } from 'vitest';

import {
  explainDifferences,
  findReferencedVariables,
  parseClientVariables,
  readClientVariables,
} from './client-variables.ts';

const text = '{ "env": { "A": "${env:A_TOKEN}", "B": "${B:-none}", "C": "${C}", "P": "${__proto__}" } }';

test('referenced variables: are found anywhere in the configuration text', () => {
  expect(findReferencedVariables('${A} ${env:B_C:-x} "${file:/f}" ${keychain:k} // ${env:A}')).toEqual([
    'A',
    'B_C',
  ]);
});

describe('client variables', () => {
  test('client variables: are those that the configuration refers to and that are set', () => {
    const env = {
      A_TOKEN: 'a',
      B: '',
      C: '${C}',
      OTHER: 'x',
      TRUNKLINE_TOKENS_IT: 'seed',
      TRUNKLINE_KEYCHAIN: '0',
      TRUNKLINE_HOME: '/home',
    };
    expect(readClientVariables(text, env)).toEqual({
      A_TOKEN: 'a',
      TRUNKLINE_TOKENS_IT: 'seed',
      TRUNKLINE_KEYCHAIN: '0',
    });
  });

  test('client variables: are limited in number and size, without splitting a value', () => {
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`V${index}`, 'x']));
    expect(Object.keys(parseClientVariables(many) ?? {})).toHaveLength(1000);
    const large = { A_TOKEN: 'a'.repeat(200_000), B: 'b'.repeat(100_000), C: 'c' };
    expect(Object.keys(readClientVariables(text, large))).toEqual(['A_TOKEN', 'C']);
    expect(Object.keys(parseClientVariables(large) ?? {})).toEqual(['A_TOKEN', 'C']);
  });

  test.each([[undefined], ['A=b'], [['A']], [null]])(
    'client variables: are absent in a hello with %j',
    (value) => {
      expect(parseClientVariables(value)).toBeUndefined();
    },
  );

  test('client variables: drop members that are not texts', () => {
    expect(parseClientVariables({ A: 1, B: { c: 'd' }, C: null, D: '', E: 'e' })).toEqual({ E: 'e' });
  });
});

describe('differing variables', () => {
  const place = 'this shell';

  test('differing variables: are explained with the commands that help', () => {
    expect(explainDifferences([{ name: 'A', canBeSecret: true }], { place, kind: 'background' })).toEqual([
      {
        problem: 'A has another value in this shell than in the running gateway, which keeps using its own.',
        fix: 'To use the other value, run trunkline restart in a shell that has it, or store it once with trunkline secret set A and write ${secret:A} in the configuration.',
      },
    ]);
  });

  test('differing variables: are not to be stored as secrets where the configuration accepts none', () => {
    const [explained, ...others] = explainDifferences(
      [
        { name: 'A', canBeSecret: false },
        { name: 'B', canBeSecret: false },
      ],
      { place, kind: 'http' },
    );
    expect(others).toEqual([]);
    expect(explained?.problem).toMatch(/^A, B have other values in this shell/);
    expect(explained?.fix).toBe('To use the other values, start the gateway again in a shell that has them.');
  });
});
