import { alignmentOf, typesIn } from './types.ts';
import type { Value } from './types.ts';

const MAX_DEPTH = 32;

/** Values from the bytes of D-Bus; throws for bytes that are no such values. */
export function decode(signature: string, bytes: Buffer, isLittle: boolean): readonly Value[] {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at: 0, isLittle };
  return typesIn(signature).map((type) => read(reader, type, 0));
}

interface Reader {
  readonly view: DataView;
  readonly isLittle: boolean;
  at: number;
}

function read(from: Reader, type: string, depth: number): Value {
  if (depth > MAX_DEPTH) throw new Error('A D-Bus message is nested too deeply.');
  align(from, alignmentOf(type));
  const { view, isLittle } = from;
  switch (type[0]) {
    case 'y':
      return view.getUint8(taken(from, 1));
    case 'n':
      return view.getInt16(taken(from, 2), isLittle);
    case 'q':
      return view.getUint16(taken(from, 2), isLittle);
    case 'i':
      return view.getInt32(taken(from, 4), isLittle);
    case 'u':
    case 'h':
      return view.getUint32(taken(from, 4), isLittle);
    case 'b':
      return view.getUint32(taken(from, 4), isLittle) === 1;
    case 'x':
      return view.getBigInt64(taken(from, 8), isLittle);
    case 't':
      return view.getBigUint64(taken(from, 8), isLittle);
    case 'd':
      return view.getFloat64(taken(from, 8), isLittle);
    case 's':
    case 'o':
      return readText(from, view.getUint32(taken(from, 4), isLittle));
    case 'g':
      return readText(from, view.getUint8(taken(from, 1)));
    case 'v': {
      const signature = readText(from, view.getUint8(taken(from, 1)));
      return { signature, value: read(from, signature, depth + 1) };
    }
    case 'a':
      return readArray(from, type.slice(1), depth);
    default:
      return typesIn(type.slice(1, -1)).map((part) => read(from, part, depth + 1));
  }
}

function readArray(from: Reader, type: string, depth: number): Value {
  const length = from.view.getUint32(taken(from, 4), from.isLittle);
  align(from, alignmentOf(type));
  const begin = taken(from, length);
  if (type === 'y') return new Uint8Array(from.view.buffer, from.view.byteOffset + begin, length);
  const values: Value[] = [];
  from.at = begin;
  while (from.at < begin + length) values.push(read(from, type, depth + 1));
  return values;
}

function readText(from: Reader, length: number): string {
  const begin = taken(from, length + 1);
  return Buffer.from(from.view.buffer, from.view.byteOffset + begin, length).toString('utf8');
}

function align(from: Reader, to: number): void {
  taken(from, (to - (from.at % to)) % to);
}

/** Where so many bytes begin, which must be there. */
function taken(from: Reader, bytes: number): number {
  const { at } = from;
  if (at + bytes > from.view.byteLength) throw new Error('A D-Bus message ends too early.');
  from.at += bytes;
  return at;
}
