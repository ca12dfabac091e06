import { expect, test } from 'vitest';

import type { TransportConfig } from '../config/config.ts';
import { secretValues } from './secret-values.ts';

test('what references stood for and what is called a secret is known, and nothing else', () => {
  const written: TransportConfig = {
    ...{ kind: 'stdio', command: 'x' },
    args: ['--token', 'one1', '--key=two2', '-v', 'https://a/?api_key=three&b=c', '${env:FOUR}', '/home/me'],
    env: { MODE: 'test', PASSWORD: 'five5', OTHER: '${file:six}' },
  };
  const revealed = {
    ...written,
    kind: 'stdio' as const,
    args: written.args.with(5, 'four4'),
    env: { ...written.env, OTHER: 'six66', FROM_FILE: 'seven' },
  };
  expect(secretValues(written, revealed).toSorted()).toEqual(
    ['one1', 'two2', 'three', 'four4', 'five5', 'six66', 'seven'].toSorted(),
  );
});

test('headers are secrets, with and without what announces them', () => {
  const written: TransportConfig = {
    ...{ kind: 'http', url: 'https://me:pass%20word@a/', flavour: 'auto' },
    headers: { Authorization: 'Bearer ${env:T}' },
  };
  const revealed = { ...written, headers: { Authorization: 'Bearer hush' } };
  expect(secretValues(written, revealed)).toEqual(['pass word', 'pass%20word', 'Bearer hush', 'hush']);
});
