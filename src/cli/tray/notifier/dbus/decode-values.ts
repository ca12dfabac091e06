import { alignmentOf, splitSignature } from './dbus-value.ts';
import type { DbusValue } from './dbus-value.ts';

/** The maximum nesting of values. Variants can be nested without a long signature, so values have their own limit. */
const MAX_DEPTH = 32;

/** Decodes D-Bus values. Throws if the bytes do not match the signature. */
export function decodeValues(
  signature: string,
  bytes: Buffer,
  isLittleEndian: boolean,
): readonly DbusValue[] {
  const reader = {
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    offset: 0,
    isLittleEndian,
  };
  return splitSignature(signature).map((type) => readValue(reader, type, 0));
}

interface Reader {
  readonly view: DataView;
  readonly isLittleEndian: boolean;
  offset: number;
}

function readValue(reader: Reader, type: string, depth: number): DbusValue {
  if (depth > MAX_DEPTH) throw new Error('A D-Bus message is nested too deeply.');
  align(reader, alignmentOf(type));
  const { view, isLittleEndian } = reader;
  switch (type[0]) {
    case 'y':
      return view.getUint8(advance(reader, 1));
    case 'n':
      return view.getInt16(advance(reader, 2), isLittleEndian);
    case 'q':
      return view.getUint16(advance(reader, 2), isLittleEndian);
    case 'i':
      return view.getInt32(advance(reader, 4), isLittleEndian);
    case 'u':
    case 'h':
      return view.getUint32(advance(reader, 4), isLittleEndian);
    case 'b':
      return view.getUint32(advance(reader, 4), isLittleEndian) === 1;
    case 'x':
      return view.getBigInt64(advance(reader, 8), isLittleEndian);
    case 't':
      return view.getBigUint64(advance(reader, 8), isLittleEndian);
    case 'd':
      return view.getFloat64(advance(reader, 8), isLittleEndian);
    case 's':
    case 'o':
      return readText(reader, view.getUint32(advance(reader, 4), isLittleEndian));
    case 'g':
      return readText(reader, view.getUint8(advance(reader, 1)));
    case 'v': {
      const signature = readText(reader, view.getUint8(advance(reader, 1)));
      return { signature, value: readValue(reader, signature, depth + 1) };
    }
    case 'a':
      return readArray(reader, type.slice(1), depth);
    default: // A structure or a dictionary entry.
      return splitSignature(type.slice(1, -1)).map((part) => readValue(reader, part, depth + 1));
  }
}

function readArray(reader: Reader, type: string, depth: number): DbusValue {
  const length = reader.view.getUint32(advance(reader, 4), reader.isLittleEndian);
  align(reader, alignmentOf(type));
  // Throws if the message does not hold the whole array. The elements are then read from its start.
  const start = advance(reader, length);
  if (type === 'y') return new Uint8Array(reader.view.buffer, reader.view.byteOffset + start, length);
  const values: DbusValue[] = [];
  reader.offset = start;
  while (reader.offset < start + length) values.push(readValue(reader, type, depth + 1));
  return values;
}

/** Reads a text of this many bytes and skips the NUL byte after it. */
function readText(reader: Reader, length: number): string {
  const start = advance(reader, length + 1);
  return Buffer.from(reader.view.buffer, reader.view.byteOffset + start, length).toString('utf8');
}

function align(reader: Reader, alignment: number): void {
  advance(reader, (alignment - (reader.offset % alignment)) % alignment);
}

/** Moves past the next bytes and returns their offset. Throws if the message is shorter. */
function advance(reader: Reader, bytes: number): number {
  const { offset } = reader;
  if (offset + bytes > reader.view.byteLength) throw new Error('A D-Bus message ends too early.');
  reader.offset += bytes;
  return offset;
}
