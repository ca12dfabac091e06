import { alignmentOf, splitSignature } from './dbus-value.ts';
import type { DbusValue, DbusVariant } from './dbus-value.ts';

/** Encodes values for D-Bus in little-endian order. The result must be placed at an offset that is a multiple of eight. */
export function encodeValues(signature: string, values: readonly DbusValue[]): Buffer {
  const writer = new Writer();
  const types = splitSignature(signature);
  if (types.length !== values.length)
    throw new Error(`The D-Bus signature "${signature}" needs ${types.length} values.`);
  for (const [index, type] of types.entries()) writeValue(writer, type, values[index]);
  return writer.bytes();
}

class Writer {
  #buffer = Buffer.alloc(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Appends zeros up to the next multiple of the alignment. */
  align(alignment: number): void {
    this.reserve((alignment - (this.#length % alignment)) % alignment);
  }

  /** Appends zeros, which the caller overwrites, and returns their offset. May replace the buffer. */
  reserve(bytes: number): number {
    const offset = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.alloc(this.#length * 2);
      this.#buffer.copy(larger);
      this.#buffer = larger;
    }
    return offset;
  }

  get buffer(): Buffer {
    return this.#buffer;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

function writeValue(writer: Writer, type: string, value: DbusValue | undefined): void {
  writer.align(alignmentOf(type));
  switch (type[0]) {
    case 'y':
      return writeNumber(writer, 1, (offset) => writer.buffer.writeUInt8(Number(value), offset));
    case 'n':
      return writeNumber(writer, 2, (offset) => writer.buffer.writeInt16LE(Number(value), offset));
    case 'q':
      return writeNumber(writer, 2, (offset) => writer.buffer.writeUInt16LE(Number(value), offset));
    case 'i':
      return writeNumber(writer, 4, (offset) => writer.buffer.writeInt32LE(Number(value), offset));
    case 'u':
      return writeNumber(writer, 4, (offset) => writer.buffer.writeUInt32LE(Number(value), offset));
    case 'b':
      return writeNumber(writer, 4, (offset) => writer.buffer.writeUInt32LE(value === true ? 1 : 0, offset));
    case 'd':
      return writeNumber(writer, 8, (offset) => writer.buffer.writeDoubleLE(Number(value), offset));
    case 's':
    case 'o':
      return writeText(writer, requireText(value), 4);
    case 'g':
      return writeText(writer, requireText(value), 1);
    case 'v':
      return writeVariant(writer, value as DbusVariant);
    case 'a':
      return writeArray(writer, type.slice(1), value as readonly DbusValue[] | Uint8Array);
    case '(':
    case '{':
      for (const [index, part] of splitSignature(type.slice(1, -1)).entries())
        writeValue(writer, part, (value as readonly DbusValue[])[index]);
      return;
    default:
      throw new Error(`Cannot encode the D-Bus type "${type}".`);
  }
}

function writeNumber(writer: Writer, bytes: number, set: (offset: number) => void): void {
  // The room must be reserved before `set` reads `writer.buffer`, because `reserve` may replace the buffer.
  const offset = writer.reserve(bytes);
  set(offset);
}

function requireText(value: DbusValue | undefined): string {
  if (typeof value !== 'string') throw new Error('A D-Bus string is missing.');
  return value;
}

function writeText(writer: Writer, text: string, lengthBytes: 1 | 4): void {
  // D-Bus strings end with a NUL character and therefore cannot contain one.
  const bytes = Buffer.from(text.replaceAll('\0', ''), 'utf8');
  const offset = writer.reserve(lengthBytes + bytes.length + 1);
  if (lengthBytes === 1) writer.buffer.writeUInt8(bytes.length, offset);
  else writer.buffer.writeUInt32LE(bytes.length, offset);
  bytes.copy(writer.buffer, offset + lengthBytes);
}

function writeVariant(writer: Writer, { signature, value }: DbusVariant): void {
  writeText(writer, signature, 1);
  writeValue(writer, signature, value);
}

function writeArray(writer: Writer, type: string, value: readonly DbusValue[] | Uint8Array): void {
  // The length is written last. It does not include the padding before the first element.
  const lengthOffset = writer.reserve(4);
  writer.align(alignmentOf(type));
  const start = writer.length;
  if (value instanceof Uint8Array) {
    const offset = writer.reserve(value.length);
    writer.buffer.set(value, offset);
  } else for (const element of value) writeValue(writer, type, element);
  writer.buffer.writeUInt32LE(writer.length - start, lengthOffset);
}
