import { describe, expect, test } from 'vitest';

import { maskedArgs, maskedUrl, maskedValue } from './masked.ts';

describe('what is shown of arguments', () => {
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
  ])('%s', (arg, shown) => {
    expect(maskedArgs(['-x', arg])).toEqual(['-x', shown]);
    expect(maskedArgs(['-x', shown])).toEqual(['-x', shown]);
  });

  test.each([
    ...['-y', '@scope/package@1.2.3', 'npm:thing@1', 'C:\\tools\\x', 'mcp/thing:latest', '--port=80', 'a: b'],
    ...[
      'https://host/@scope/x',
      'https://host/a@b?x=y@z',
      'git+ssh://git@host/me/it',
      'mode=fast',
      'me@host',
    ],
    ...['https://evil.example\\@good.example/', 'https://evil.example#@good.example'],
  ])('%s stays', (arg) => {
    expect(maskedArgs([arg])).toEqual([arg]);
  });

  test('takes no long time for hostile texts', () => {
    for (const part of ['a-', 'a:', '"a":', "'a':\"", 'a=', 'https://', 'x?', ' -', '&=', 'a:b@'])
      expect(maskedArgs([part.repeat(32_000)])).toHaveLength(1);
  });
});

test('a value that stands in for a missing one is hidden, and it is seen that there is one', () => {
  expect(maskedValue('${TOKEN:-hush}')).toBe('${env:TOKEN:-•••}');
  expect(maskedValue('${TOKEN:-}')).toBe('${env:TOKEN}');
});

test('addresses inside a text are without users', () => {
  expect(maskedUrl('see amqp://me:hush@a/ and ftp://me:hush@b/')).toBe('see amqp://•••@a/ and ftp://•••@b/');
});
