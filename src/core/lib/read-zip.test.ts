import { describe, expect, test } from 'vitest';

import { createZip } from '../../../test/support/zip.ts';
import { readZip } from './read-zip.ts';

const limits = { maxEntries: 10, maxBytes: 1000 };

describe('ZIP archive', () => {
  test('ZIP archive: lists files, folders, programs and links, and unpacks the content', () => {
    const bytes = createZip([
      { name: 'a.txt', content: 'hello '.repeat(20) },
      { name: 'b/', content: '', mode: 0o040_755 },
      { name: 'b/run', content: 'x', mode: 0o100_755 },
      { name: 'link', content: '/etc/passwd', mode: 0o120_777 },
    ]);
    // A signature may follow the archive.
    const entries = readZip(Buffer.concat([bytes, Buffer.from('signature')]), limits);
    expect(entries.map(({ name, kind, isExecutable }) => [name, kind, isExecutable])).toEqual([
      ['a.txt', 'file', false],
      ['b/', 'folder', true],
      ['b/run', 'file', true],
      ['link', 'other', true],
    ]);
    expect(entries[0]?.read().toString()).toBe('hello '.repeat(20));
  });

  test('ZIP archive: never unpacks more than the stated size', () => {
    const bytes = createZip([{ name: 'bomb', content: '0'.repeat(1_000_000), statedSize: 10 }]);
    expect(() => readZip(bytes, limits)[0]?.read()).toThrow('it is damaged');
  });

  test.each([
    [
      'too many files',
      createZip(Array.from({ length: 11 }, (_, at) => ({ name: `${at}`, content: '' }))),
      'more than 10',
    ],
    [
      'files that are too large together',
      createZip([{ name: 'a', content: 'x'.repeat(1001) }]),
      'unpacks to more',
    ],
    ['no archive', Buffer.from('{}'.repeat(50)), 'not a ZIP archive'],
    ['an empty file', Buffer.alloc(0), 'not a ZIP archive'],
  ])('ZIP archive: is rejected with %s', (_what, bytes, reason) => {
    expect(() => readZip(bytes, limits)).toThrow(reason);
  });

  test('ZIP archive: every damaged byte is detected or harmless', () => {
    const bytes = createZip([{ name: 'a', content: 'some content' }]);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      const read = (): readonly string[] => readZip(damaged, limits).map((entry) => entry.read().toString());
      try {
        expect(read().every((text) => text === 'some content')).toBe(true);
      } catch (error) {
        expect((error as Error).message).toMatch(/^it /);
      }
    }
  });
});
