import { expect, test } from 'vitest';

import type { TransportConfig } from '../config/config.ts';
import { listSecretValues } from './secret-values.ts';

test('secret values: include resolved references and values with secret names, nothing else', () => {
  const configured: TransportConfig = {
    kind: 'stdio',
    command: 'x',
    args: ['--token', 'one1', '--key=two2', '-v', 'https://a/?api_key=three&b=c', '${env:FOUR}', '/home/me'],
    env: { MODE: 'test', PASSWORD: 'five5', OTHER: '${file:six}' },
  };
  const resolved = {
    ...configured,
    kind: 'stdio' as const,
    args: configured.args.with(5, 'four4'),
    env: { ...configured.env, OTHER: 'six66', FROM_FILE: 'seven' },
  };
  expect(listSecretValues(configured, resolved).toSorted()).toEqual(
    ['one1', 'two2', 'three', 'four4', 'five5', 'six66', 'seven'].toSorted(),
  );
});

test('secret values: include headers with and without their scheme', () => {
  const configured: TransportConfig = {
    kind: 'http',
    url: 'https://me:pass%20word@a/',
    flavour: 'auto',
    headers: { Authorization: 'Bearer ${env:T}' },
  };
  const resolved = { ...configured, headers: { Authorization: 'Bearer hush' } };
  expect(listSecretValues(configured, resolved).toSorted()).toEqual(
    ['me:pass%20word', 'pass word', 'pass%20word', 'Bearer hush', 'hush'].toSorted(),
  );
});

test.each([
  { args: ['--dsn=postgres://me:p%40ss@db:5432/x?sslmode=off'], hidden: ['me:p%40ss', 'p%40ss', 'p@ss'] },
  { args: ['--dsn', 'postgres://me:a@b:c@db/x'], hidden: ['me:a@b:c', 'a@b:c'] },
  { args: ['-H', 'Authorization: Bearer hush1'], hidden: ['Bearer hush1', 'hush1'] },
  { args: ['--header=X-Api-Key: hush2'], hidden: ['hush2'] },
  { args: ['--header', 'Cookie: a=b; c=d'], hidden: ['a=b; c=d', 'a=b'] },
  { args: ['--config={"token":"hush3","mode":"fast","secret":"hush4"}'], hidden: ['hush3', 'hush4'] },
  { args: ['--options', 'password=hush5;user=me'], hidden: ['hush5;user=me', 'hush5'] },
  { args: ['me:hush6@tcp(db:3306)/x'], hidden: ['me:hush6', 'hush6'] },
  { args: ['redis://:hush%zz@cache'], hidden: [':hush%zz', 'hush%zz'] },
  { args: ['--mode=fast', 'Accept: text/plain', 'https://a.example/x?b=c', 'git@host:x'], hidden: [] },
])('secret values: finds those listed in %j', ({ args, hidden }) => {
  const configured: TransportConfig = { kind: 'stdio', command: 'x', args, env: {} };
  const found = listSecretValues(configured, { ...configured, kind: 'stdio', args: [...args] });
  expect(found.toSorted()).toEqual(hidden.toSorted());
});

test('secret values: include the password in a URL of any variable', () => {
  const env = { DATABASE_URL: 'mysql://root:hush@db/x' };
  const configured: TransportConfig = { kind: 'stdio', command: 'x', args: [], env };
  expect(listSecretValues(configured, { ...configured, kind: 'stdio' })).toContain('hush');
});
