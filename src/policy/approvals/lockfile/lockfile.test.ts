import { expect, test } from 'vitest';

import type { Fingerprint, UpstreamName } from '../../../core/ids.ts';
import { createSubject, isDecisionAbout, listApprovalSubjects } from '../approval-subject.ts';
import type { ServerOffer } from '../approval-subject.ts';
import { parseLockfile } from './parse-lockfile.ts';
import { formatLockfile } from './format-lockfile.ts';

const offer = (upstream: string, names: readonly string[]): ServerOffer => ({
  upstream: upstream as UpstreamName,
  config: 'c' as Fingerprint,
  facts: { era: 'legacy', protocol: 'x', info: { title: 'T' }, capabilities: {}, instructions: 'Be kind.' },
  tools: names.map((name) => ({ definition: { name, description: `does ${name}`, _meta: { tags: ['a'] } } })),
  prompts: [{ definition: { name: '__proto__', description: 'odd' } }],
});

test('lockfile: has the same text for the same entries in any order', () => {
  const [one, two] = [offer('one', ['a', 'b']), offer('two', ['c'])];
  expect(formatLockfile([two, offer('one', ['b', 'a'])])).toBe(formatLockfile([one, two]));
});

test('lockfile: reads back what was written, including the name __proto__', () => {
  const lock = parseLockfile('x.json', formatLockfile([offer('one', ['a'])]));
  const server = lock.servers.get('one');
  expect(server?.find('tool', 'a')?.definition).toEqual({
    name: 'a',
    description: 'does a',
    _meta: { tags: ['a'] },
  });
  expect(server?.find('prompt', '__proto__')?.definition['description']).toBe('odd');
  expect(server?.find('words', '')?.definition).toEqual({ instructions: 'Be kind.', title: 'T' });
  expect(server?.find('tool', 'b')).toBeUndefined();
});

test('lockfile: rejects a definition that does not match its fingerprint', () => {
  const text = formatLockfile([offer('one', ['a'])]).replace('does a', 'does another thing');
  expect(() => parseLockfile('x.json', text)).toThrow('does not match its definition');
});

test('lockfile: accepts a definition that an earlier version locked without _meta, but not with another', () => {
  const { tools } = offer('one', ['a']);
  const definition = { name: 'a', description: 'does a' };
  const formerFingerprint = createSubject('tool', 'a', definition).formerFingerprint;
  const lockOf = (locked: object) =>
    parseLockfile(
      'x.json',
      JSON.stringify({
        format: 1,
        servers: { one: { tools: { a: { fingerprint: formerFingerprint, definition: locked } } } },
      }),
    );
  const locked = lockOf(definition).servers.get('one')?.find('tool', 'a')?.fingerprint;
  const [subject] = listApprovalSubjects({ ...offer('one', []), tools }).filter(
    ({ kind }) => kind === 'tool',
  );
  expect(subject && isDecisionAbout(subject, locked)).toBe(true);
  expect(() => lockOf({ ...definition, _meta: { a: 'b' } })).toThrow('does not match its definition');
});

test.each(['', '[]', '{"format":2,"servers":{}}', '{"format":1,"servers":{"a":{"tools":{"b":{}}}}}'])(
  'lockfile: rejects %s as invalid',
  (text) => {
    expect(() => parseLockfile('x.json', text)).toThrow('x.json cannot be used');
  },
);
