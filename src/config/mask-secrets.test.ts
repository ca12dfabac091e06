import { describe, expect, test } from 'vitest';

import { maskArgs, maskUrl, maskValue } from './mask-secrets.ts';

describe('masked arguments', () => {
  test.each([
    ['mysql://root:hush@db/x', 'mysql://•••@db/x'],
    ['--dsn=mysql://root:hush@db/x', '--dsn=mysql://•••@db/x'],
    [
      '--dsn=postgresql+psycopg://me:hu@sh@db:5432/x?sslmode=off',
      '--dsn=postgresql+psycopg://•••@db:5432/x?sslmode=off',
    ],
    ['redis://:hu#sh@db', 'redis://•••@db'],
    ['--dsn=root:hush@tcp(db:3306)/x', '--dsn=•••@tcp(db:3306)/x'],
    ['https://me:hu@sh@host/?key=hush&q=x', 'https://•••@host/?key=•••&q=x'],
    ['X-Api-Key: hush', 'X-Api-Key: •••'],
    ['X-Api-Key:hush', 'X-Api-Key:•••'],
    ['Authorization: Bearer hush', 'Authorization: •••'],
    ['Authorization: Bearer ${env:TOKEN}', 'Authorization: Bearer ${env:TOKEN}'],
    ['--header=Authorization: Bearer hush', '--header=Authorization: •••'],
    ['{"url": "x", "apiKey": "hush"}', '{"url": "x", "apiKey": "•••"}'],
    ['host=db password=hush user=me', 'host=db password=••• user=me'],
    ['Server=db;Pwd=hush;Port=1', 'Server=db;Pwd=•••;Port=1'],
    ['API_KEY=hush', 'API_KEY=•••'],
  ])('mask: hides the secrets in %s', (arg, shown) => {
    expect(maskArgs(['-x', arg])).toEqual(['-x', shown]);
    expect(maskArgs(['-x', shown])).toEqual(['-x', shown]);
  });

  test.each([
    '-y',
    '@scope/package@1.2.3',
    'npm:thing@1',
    'C:\\tools\\x',
    'mcp/thing:latest',
    '--port=80',
    'a: b',
    'https://host/@scope/x',
    'https://host/a@b?x=y@z',
    'git+ssh://git@host/me/it',
    'mode=fast',
    'me@host',
    'https://evil.example\\@good.example/',
    'https://evil.example#@good.example',
  ])('mask: leaves %s unchanged', (arg) => {
    expect(maskArgs([arg])).toEqual([arg]);
  });

  test('mask: handles large hostile arguments', () => {
    for (const part of ['a-', 'a:', '"a":', "'a':\"", 'a=', 'https://', 'x?', ' -', '&=', 'a:b@'])
      expect(maskArgs([part.repeat(32_000)])).toHaveLength(1);
  });
});

test('mask: hides the default of a reference and shows that there is one', () => {
  expect(maskValue('${TOKEN:-hush}')).toBe('${env:TOKEN:-•••}');
  expect(maskValue('${TOKEN:-}')).toBe('${env:TOKEN}');
});

test('mask: removes credentials from URLs inside a text', () => {
  expect(maskUrl('see amqp://me:hush@a/ and ftp://me:hush@b/')).toBe('see amqp://•••@a/ and ftp://•••@b/');
});
