import { describe, expect, test } from 'vitest';

import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { decodeMessage, encodeMessage } from './message.ts';
import type { Message } from './message.ts';
import { typesIn, variant } from './types.ts';
import type { Value } from './types.ts';

const hello: Message = {
  kind: 'call',
  serial: 1,
  wantsReply: true,
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
  member: 'Hello',
  destination: 'org.freedesktop.DBus',
  signature: '',
  body: [],
};

describe('values', () => {
  test.each<[string, Value]>([
    ['y', 255],
    ['b', true],
    ['n', -2],
    ['q', 65_535],
    ['i', -70_000],
    ['u', 4_000_000_000],
    ['d', 0.5],
    ['s', 'grün ✓'],
    ['o', '/a/b'],
    ['g', 'a{sv}'],
    ['v', variant('s', 'inside')],
    ['as', ['', 'a', 'bc']],
    ['a(iiay)', [[1, 2, Uint8Array.of(1, 2, 3)]]],
    [
      'a{sv}',
      [
        ['a', variant('b', false)],
        ['b', variant('(ia{sv}av)', [1, [], [variant('i', 2)]])],
      ],
    ],
    ['(ys(u))', [1, 'x', [2]]],
  ])('of type %s come back as they were', (type, value) => {
    // A byte before it, so that alignment counts.
    expect(decode(`y${type}`, encode(`y${type}`, [7, value]), true)).toEqual([7, value]);
  });

  test('are laid out as the specification says', () => {
    expect(encode('yu', [1, 2]).toString('hex')).toBe('0100000002000000');
    expect(encode('as', [['a']]).toString('hex')).toBe('06000000010000006100');
    // The padding before the first element is not counted.
    expect(encode('at', [[]]).toString('hex')).toBe('0000000000000000');
  });

  test('a zero cannot end a text early', () => {
    expect(decode('ss', encode('ss', ['a\0b', 'c']), true)).toEqual(['ab', 'c']);
  });

  test('large ones outgrow the first buffer', () => {
    const text = 'x'.repeat(5000);
    expect(decode('sus', encode('sus', [text, 3, text]), true)).toEqual([text, 3, text]);
  });
});

describe('signatures', () => {
  test('are cut into whole types', () => {
    expect(typesIn('ia{sv}(ii)aai')).toEqual(['i', 'a{sv}', '(ii)', 'aai']);
  });

  test.each(['(', 'a', '()', 'z', '(i', '('.repeat(40), 'i'.repeat(300)])('%s is refused', (signature) => {
    expect(() => typesIn(signature)).toThrow(/D-Bus/);
  });
});

describe('messages', () => {
  test('come back as they were, one after the other', () => {
    const signal: Message = {
      ...{ kind: 'signal', serial: 9, wantsReply: false, path: '/x', interface: 'a.b', member: 'C' },
      ...{ signature: 'ui', body: [3, 0] },
    };
    const bytes = Buffer.concat([encodeMessage(hello), encodeMessage(signal)]);
    const first = decodeMessage(bytes);
    expect(first?.message).toEqual(hello);
    expect(decodeMessage(bytes.subarray(first?.length))?.message).toEqual(signal);
  });

  test('that are not whole yet are waited for', () => {
    const bytes = encodeMessage(hello);
    for (let length = 0; length < bytes.length; length++)
      expect(decodeMessage(bytes.subarray(0, length))).toBeUndefined();
  });

  test('that claim to be huge are refused', () => {
    const bytes = encodeMessage(hello);
    bytes.writeUInt32LE(0x7fff_ffff, 4);
    expect(() => decodeMessage(bytes)).toThrow('too long');
  });

  test('whose parts reach over their end are refused', () => {
    const bytes = encodeMessage({ ...hello, signature: 's', body: ['abc'] });
    bytes.writeUInt32LE(0xffff, bytes.length - 8);
    expect(() => decodeMessage(bytes)).toThrow('ends too early');
  });

  test('of the other byte order are understood', () => {
    const header = Buffer.from('42020001000000000000000500000008' + '0501750000000007', 'hex');
    expect(decodeMessage(header)?.message).toMatchObject({ kind: 'return', serial: 5, replyTo: 7 });
  });
});
