import { describe, expect, test } from 'vitest';

import { readHeader } from './read-header.ts';

describe('readHeader', () => {
  test.each([
    ['Authorization: Bearer a=b', 'Authorization', 'Bearer a=b'],
    ['Authorization:Bearer x', 'Authorization', 'Bearer x'],
    ['Authorization=Bearer ${env:TOKEN}', 'Authorization', 'Bearer ${env:TOKEN}'],
    ['X-Api-Key=https://a.example:1', 'X-Api-Key', 'https://a.example:1'],
  ])('reads %j', (text, name, value) => {
    expect(readHeader(text)).toEqual({ name, value });
  });

  test.each(['', 'geheim', 'X-Key:', 'X-Key=', ': geheim', 'two words: geheim', 'X-Key: a\ngeheim'])(
    'refuses %j without repeating it, and shows both ways',
    (text) => {
      const refused = (): unknown => readHeader(text);
      expect(refused).toThrow('--header "Name: value" or --header NAME=VALUE');
      expect(refused).not.toThrow(/geheim/);
    },
  );
});
