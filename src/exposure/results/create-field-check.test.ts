import { expect, test } from 'vitest';

import { createFieldCheck } from './create-field-check.ts';

const isField = createFieldCheck({
  name: 'get_weather',
  description: 'Returns the humidity and the wavelength. Use sort=rank2 to sort.',
  inputSchema: { type: 'object', properties: { plutoDistance: {}, grid_v2: {} } },
});

test.each([
  ['common words', ['id', 'title', 'items', 'address', 'status', 'SHA256', '@type', '$ref']],
  [
    'names that end in a common word',
    ['html_url', 'htmlURL', 'stargazers_count', 'content-type', 'createdAt'],
  ],
  [
    'words of the definition',
    ['humidity', 'wavelengths', 'minWavelength', 'grid_v2', 'plutoDistance', 'rank2'],
  ],
])('field check: accepts %s', (_title, keys) => {
  expect(keys.filter((key) => !isField(key))).toEqual([]);
});

test.each([
  ['user names', ['ada', 'bob', 'ada_lovelace', 'user_ada', 'adaLovelace', 'id_ada', 'ada99']],
  ['e-mail addresses and hosts', ['ada@example.com', 'example.com', 'index.html', 'ada.name']],
  ['ids', ['usr_8f3k2', 'user_123', 'PROJ-12', 'a1b2c3d4', 'id1', 'cus_NffrFeUfNV2Hib', '_5f1e']],
  ['companies, countries and languages', ['acme', 'acme-corp', 'DE', 'de_DE', 'Österreich']],
  ['nothing', ['', '_', '$', '-']],
])('field check: rejects %s', (_title, keys) => {
  expect(keys.filter(isField)).toEqual([]);
});

test('field check: reads a bounded part of a definition', () => {
  const properties = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`p${at}`, {}]));
  const check = createFieldCheck({
    name: 'x',
    description: `${'x '.repeat(2_500)}pluto`,
    inputSchema: { properties },
  });
  expect([check('p99'), check('p100'), check('pluto')]).toEqual([true, false, false]);
});
