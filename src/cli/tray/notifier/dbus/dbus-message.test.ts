import { describe, expect, test } from 'vitest';

import { decodeValues } from './decode-values.ts';
import { encodeValues } from './encode-values.ts';
import { decodeMessage, encodeMessage } from './dbus-message.ts';
import type { DbusMessage } from './dbus-message.ts';
import { splitSignature, createVariant } from './dbus-value.ts';
import type { DbusValue } from './dbus-value.ts';

const hello: DbusMessage = {
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

describe('D-Bus values', () => {
  test.each<[string, DbusValue]>([
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
    ['v', createVariant('s', 'inside')],
    ['as', ['', 'a', 'bc']],
    ['a(iiay)', [[1, 2, Uint8Array.of(1, 2, 3)]]],
    [
      'a{sv}',
      [
        ['a', createVariant('b', false)],
        ['b', createVariant('(ia{sv}av)', [1, [], [createVariant('i', 2)]])],
      ],
    ],
    ['(ys(u))', [1, 'x', [2]]],
  ])('D-Bus value: round-trips type %s', (type, value) => {
    // The value follows a byte, so that it needs padding for its alignment.
    expect(decodeValues(`y${type}`, encodeValues(`y${type}`, [7, value]), true)).toEqual([7, value]);
  });

  test('D-Bus value: is encoded as the specification says', () => {
    expect(encodeValues('yu', [1, 2]).toString('hex')).toBe('0100000002000000');
    expect(encodeValues('as', [['a']]).toString('hex')).toBe('06000000010000006100');
    // The padding before the first element is not counted.
    expect(encodeValues('at', [[]]).toString('hex')).toBe('0000000000000000');
  });

  test('D-Bus value: removes NUL characters from strings', () => {
    expect(decodeValues('ss', encodeValues('ss', ['a\0b', 'c']), true)).toEqual(['ab', 'c']);
  });

  test('D-Bus value: can be larger than the initial buffer', () => {
    const text = 'x'.repeat(5000);
    expect(decodeValues('sus', encodeValues('sus', [text, 3, text]), true)).toEqual([text, 3, text]);
  });
});

describe('D-Bus signatures', () => {
  test('D-Bus signature: is split into complete types', () => {
    expect(splitSignature('ia{sv}(ii)aai')).toEqual(['i', 'a{sv}', '(ii)', 'aai']);
  });

  test.each(['(', 'a', '()', 'z', '(i', '('.repeat(40), 'i'.repeat(300)])(
    'D-Bus signature: rejects %s',
    (signature) => {
      expect(() => splitSignature(signature)).toThrow(/D-Bus/);
    },
  );
});

describe('D-Bus messages', () => {
  test('D-Bus message: round-trips, also several in a row', () => {
    const signal: DbusMessage = {
      kind: 'signal',
      serial: 9,
      wantsReply: false,
      path: '/x',
      interface: 'a.b',
      member: 'C',
      signature: 'ui',
      body: [3, 0],
    };
    const bytes = Buffer.concat([encodeMessage(hello), encodeMessage(signal)]);
    const first = decodeMessage(bytes);
    expect(first?.message).toEqual(hello);
    expect(decodeMessage(bytes.subarray(first?.length))?.message).toEqual(signal);
  });

  test('D-Bus message: waits for incomplete data', () => {
    const bytes = encodeMessage(hello);
    for (let length = 0; length < bytes.length; length++)
      expect(decodeMessage(bytes.subarray(0, length))).toBeUndefined();
  });

  test('D-Bus message: rejects a huge declared length', () => {
    const bytes = encodeMessage(hello);
    bytes.writeUInt32LE(0x7fff_ffff, 4);
    expect(() => decodeMessage(bytes)).toThrow('too long');
  });

  test('D-Bus message: rejects parts that extend beyond the end', () => {
    const bytes = encodeMessage({ ...hello, signature: 's', body: ['abc'] });
    bytes.writeUInt32LE(0xffff, bytes.length - 8);
    expect(() => decodeMessage(bytes)).toThrow('ends too early');
  });

  test('D-Bus message: decodes big-endian data', () => {
    const header = Buffer.from('42020001000000000000000500000008' + '0501750000000007', 'hex');
    expect(decodeMessage(header)?.message).toMatchObject({ kind: 'return', serial: 5, replyTo: 7 });
  });
});
