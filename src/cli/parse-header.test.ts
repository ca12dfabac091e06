import { describe, expect, test } from 'vitest';

import { parseHeader } from './parse-header.ts';

describe('header option', () => {
  test.each([
    ['Authorization: Bearer a=b', 'Authorization', 'Bearer a=b'],
    ['Authorization:Bearer x', 'Authorization', 'Bearer x'],
    ['Authorization=Bearer ${env:TOKEN}', 'Authorization', 'Bearer ${env:TOKEN}'],
    ['X-Api-Key=https://a.example:1', 'X-Api-Key', 'https://a.example:1'],
  ])('header option: parses %j', (text, name, value) => {
    expect(parseHeader(text)).toEqual({ name, value });
  });

  test.each(['', 'geheim', 'X-Key:', 'X-Key=', ': geheim', 'two words: geheim', 'X-Key: a\ngeheim'])(
    'header option: rejects %j without revealing it and shows both notations',
    (text) => {
      const refused = (): unknown => parseHeader(text);
      expect(refused).toThrow('--header "Name: value" or --header NAME=VALUE');
      expect(refused).not.toThrow(/geheim/);
    },
  );
});
