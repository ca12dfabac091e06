import { alignmentOf, typesIn } from './types.ts';
import type { Value, Variant } from './types.ts';

/** Values in the bytes of D-Bus, little-endian; the first one lies at a multiple of eight. */
export function encode(signature: string, values: readonly Value[]): Buffer {
  const writer = new Writer();
  const types = typesIn(signature);
  if (types.length !== values.length) throw new Error(`"${signature}" wants ${types.length} values.`);
  for (const [at, type] of types.entries()) write(writer, type, values[at]);
  return writer.bytes();
}

class Writer {
  #buffer = Buffer.alloc(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Zeroes up to the next multiple. */
  align(to: number): void {
    this.room((to - (this.#length % to)) % to);
  }

  /** Where the next bytes go, which are zero until somebody sets them. */
  room(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.alloc(this.#length * 2);
      this.#buffer.copy(larger);
      this.#buffer = larger;
    }
    return at;
  }

  get view(): Buffer {
    return this.#buffer;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

function write(to: Writer, type: string, value: Value | undefined): void {
  to.align(alignmentOf(type));
  switch (type[0]) {
    case 'y':
      return writeNumber(to, 1, (at) => to.view.writeUInt8(Number(value), at));
    case 'n':
      return writeNumber(to, 2, (at) => to.view.writeInt16LE(Number(value), at));
    case 'q':
      return writeNumber(to, 2, (at) => to.view.writeUInt16LE(Number(value), at));
    case 'i':
      return writeNumber(to, 4, (at) => to.view.writeInt32LE(Number(value), at));
    case 'u':
      return writeNumber(to, 4, (at) => to.view.writeUInt32LE(Number(value), at));
    case 'b':
      return writeNumber(to, 4, (at) => to.view.writeUInt32LE(value === true ? 1 : 0, at));
    case 'd':
      return writeNumber(to, 8, (at) => to.view.writeDoubleLE(Number(value), at));
    case 's':
    case 'o':
      return writeText(to, textOf(value), 4);
    case 'g':
      return writeText(to, textOf(value), 1);
    case 'v':
      return writeVariant(to, value as Variant);
    case 'a':
      return writeArray(to, type.slice(1), value as readonly Value[] | Uint8Array);
    case '(':
    case '{':
      for (const [at, part] of typesIn(type.slice(1, -1)).entries())
        write(to, part, (value as readonly Value[])[at]);
      return;
    default:
      throw new Error(`Values of the D-Bus type "${type}" are not sent.`);
  }
}

function writeNumber(to: Writer, bytes: number, set: (at: number) => void): void {
  // The buffer may be another one afterwards.
  const at = to.room(bytes);
  set(at);
}

function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') throw new Error('A D-Bus text is missing.');
  return value;
}

function writeText(to: Writer, text: string, lengthBytes: 1 | 4): void {
  // The end of a text is marked with a zero, so none can be in it.
  const bytes = Buffer.from(text.replaceAll('\0', ''), 'utf8');
  const at = to.room(lengthBytes + bytes.length + 1);
  if (lengthBytes === 1) to.view.writeUInt8(bytes.length, at);
  else to.view.writeUInt32LE(bytes.length, at);
  bytes.copy(to.view, at + lengthBytes);
}

function writeVariant(to: Writer, { signature, value }: Variant): void {
  writeText(to, signature, 1);
  write(to, signature, value);
}

function writeArray(to: Writer, type: string, value: readonly Value[] | Uint8Array): void {
  const lengthAt = to.room(4);
  to.align(alignmentOf(type));
  const begin = to.length;
  if (value instanceof Uint8Array) {
    const at = to.room(value.length);
    to.view.set(value, at);
  } else for (const each of value) write(to, type, each);
  to.view.writeUInt32LE(to.length - begin, lengthAt);
}
