import { expect, test } from 'vitest';

import type { Fingerprint, UpstreamName } from '../../../model/ids.ts';
import type { Offered } from '../subject.ts';
import { readLock } from './read-lock.ts';
import { writeLock } from './write-lock.ts';

const offer = (upstream: string, names: readonly string[]): Offered => ({
  upstream: upstream as UpstreamName,
  config: 'c' as Fingerprint,
  facts: { era: 'legacy', protocol: 'x', info: { title: 'T' }, capabilities: {}, instructions: 'Be kind.' },
  tools: names.map((name) => ({ definition: { name, description: `does ${name}`, _meta: { a: 1 } } })),
  prompts: [{ definition: { name: '__proto__', description: 'odd' } }],
});

test('the same offer gives the same text, in whatever order it comes', () => {
  const [one, two] = [offer('one', ['a', 'b']), offer('two', ['c'])];
  expect(writeLock([two, offer('one', ['b', 'a'])])).toBe(writeLock([one, two]));
});

test('what was written is read again, odd names and all', () => {
  const lock = readLock('x.json', writeLock([offer('one', ['a'])]));
  const server = lock.servers.get('one');
  expect(server?.find('tool', 'a')?.definition).toEqual({ name: 'a', description: 'does a' });
  expect(server?.find('prompt', '__proto__')?.definition['description']).toBe('odd');
  expect(server?.find('words', '')?.definition).toEqual({ instructions: 'Be kind.', title: 'T' });
  expect(server?.find('tool', 'b')).toBeUndefined();
});

test('a definition that does not go with its fingerprint is refused', () => {
  const text = writeLock([offer('one', ['a'])]).replace('does a', 'does another thing');
  expect(() => readLock('x.json', text)).toThrow('not that of its definition');
});

test.each(['', '[]', '{"format":2,"servers":{}}', '{"format":1,"servers":{"a":{"tools":{"b":{}}}}}'])(
  '%s is no lockfile',
  (text) => {
    expect(() => readLock('x.json', text)).toThrow('x.json cannot be used');
  },
);
