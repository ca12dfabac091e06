import { expect, test } from 'vitest';

import { withoutSecrets } from '../lib/without-secrets.ts';
import { createCallHistory } from './call-history.ts';

function memoryStorage(initial = ''): Storage {
  const values = new Map([['trunkline.calls', initial]]);
  // The history uses only these members.
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  } as unknown as Storage;
}

test('call history: lists kept calls first, then the ten newest, each once', () => {
  const storage = memoryStorage();
  const history = createCallHistory(() => storage);
  for (let at = 1; at <= 12; at++) history.add('t', { at }, at);
  history.add('t', { at: 5 }, 20);
  expect(history.of('t').map(({ args }) => args['at'])).toEqual([5, 12, 11, 10, 9, 8, 7, 6, 4, 3]);
  history.setKept('t', history.of('t')[9]!, true);
  for (let at = 31; at <= 45; at++) history.add('t', { at }, at);
  expect(history.of('t')[0]).toMatchObject({ args: { at: 3 }, isKept: true });
  expect(history.of('t')).toHaveLength(11);
  history.remove('t', history.of('t')[0]!);
  expect(history.of('t')[0]).toMatchObject({ args: { at: 45 }, isKept: false });
  history.add('t', { text: 'x'.repeat(10_000) }, 99);
  expect(history.of('t')[0]).toMatchObject({ at: 45 });
  history.clear();
  expect(history.of('t')).toEqual([]);
});

test('call history: survives damaged contents and a forbidden storage', () => {
  for (const damaged of ['{', '7', '{"t":[1,{"at":"x"},{"at":1,"args":[],"isKept":true}]}'])
    expect(createCallHistory(() => memoryStorage(damaged)).of('t')).toEqual([]);
  const forbidden = createCallHistory(() => {
    throw new Error('denied');
  });
  forbidden.add('constructor', { a: 1 }, 1);
  expect(forbidden.of('constructor')).toEqual([]);
});

test('call history: leaves out arguments that may be secrets', () => {
  const schema = {
    properties: {
      code: { type: 'string', format: 'password' },
      nested: { properties: { x: { writeOnly: true } } },
    },
  };
  const args = {
    path: '/home/ada/notes.txt',
    apiKey: 'a',
    code: 'hidden by its format',
    nested: { x: 'hidden', y: 1, db_password: 'b' },
    header: 'Bearer abcdefghijkl',
    url: 'https://ada:secret@example.com',
    list: ['plain', `ghp_${'a1'.repeat(18)}`],
    random: 'f3a9c1d27be84460a5c2e9d1b7f03c68',
  };
  expect(withoutSecrets(args, schema)).toEqual({
    path: '/home/ada/notes.txt',
    nested: { y: 1 },
    list: ['plain'],
  });
});
