import { crc32, inflateRawSync } from 'node:zlib';

/** One file or folder of a ZIP archive. Its name is not checked: it may leave the folder that it is unpacked to. */
export interface ZipEntry {
  readonly name: string;
  /** The size of the unpacked content. `read` never returns more. */
  readonly size: number;
  readonly kind: 'file' | 'folder' | 'other';
  readonly isExecutable: boolean;
  /** Unpacks the content. Throws if it does not match the size and the checksum that the archive states. */
  readonly read: () => Buffer;
}

interface ZipLimits {
  readonly maxEntries: number;
  /** The maximum size of all unpacked files together. */
  readonly maxBytes: number;
}

const END_RECORD = 0x06_05_4b_50;
const CENTRAL_RECORD = 0x02_01_4b_50;
const LOCAL_RECORD = 0x04_03_4b_50;
const [END_SIZE, CENTRAL_SIZE, LOCAL_SIZE] = [22, 46, 30];
const MAX_COMMENT = 0xff_ff;
/** A field with this value refers to the ZIP64 format, which only archives of several gigabytes need. */
const ZIP64_COUNT = 0xff_ff;
const ZIP64_SIZE = 0xff_ff_ff_ff;
const [STORED, DEFLATED] = [0, 8];
const UNIX = 3;

/**
 * Reads the table of contents of a ZIP archive. Throws an error with the reason if it is damaged, encrypted or larger than the limits.
 * Nothing is unpacked before `read` is called.
 */
export function readZip(bytes: Buffer, { maxEntries, maxBytes }: ZipLimits): readonly ZipEntry[] {
  const end = findEndRecord(bytes);
  const count = bytes.readUInt16LE(end + 10);
  const start = bytes.readUInt32LE(end + 16);
  if (count === ZIP64_COUNT || start === ZIP64_SIZE) throw new Error('it has the format ZIP64');
  if (bytes.readUInt16LE(end + 4) !== 0) throw new Error('it is a part of a divided archive');
  if (count > maxEntries) throw new Error(`it has more than ${maxEntries} files`);
  const entries: ZipEntry[] = [];
  let total = 0;
  let at = start;
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_SIZE > end || bytes.readUInt32LE(at) !== CENTRAL_RECORD) throw damagedError();
    const entry = readCentralRecord(bytes, at);
    total += entry.size;
    if (total > maxBytes) throw new Error(`it unpacks to more than ${Math.floor(maxBytes / 2 ** 20)} MB`);
    entries.push(entry);
    at += CENTRAL_SIZE + [28, 30, 32].reduce((sum, field) => sum + bytes.readUInt16LE(at + field), 0);
  }
  return entries;
}

/** The record is at the end, and only a comment or a signature may follow it. */
function findEndRecord(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_SIZE - MAX_COMMENT);
  for (let at = bytes.length - END_SIZE; at >= first; at--)
    if (bytes.readUInt32LE(at) === END_RECORD) return at;
  throw new Error('it is not a ZIP archive');
}

function readCentralRecord(bytes: Buffer, at: number): ZipEntry {
  const flags = bytes.readUInt16LE(at + 8);
  const method = bytes.readUInt16LE(at + 10);
  const checksum = bytes.readUInt32LE(at + 16);
  const packedSize = bytes.readUInt32LE(at + 20);
  const size = bytes.readUInt32LE(at + 24);
  const nameSize = bytes.readUInt16LE(at + 28);
  const mode = bytes[at + 5] === UNIX ? bytes.readUInt16LE(at + 40) : 0;
  const name = bytes.toString('utf8', at + CENTRAL_SIZE, at + CENTRAL_SIZE + nameSize);
  if ((flags & 1) !== 0) throw new Error('it is encrypted');
  if (size === ZIP64_SIZE || packedSize === ZIP64_SIZE) throw new Error('it has the format ZIP64');
  if (method !== STORED && method !== DEFLATED)
    throw new Error(`it uses the compression method ${method}, which is not supported`);
  const localAt = bytes.readUInt32LE(at + 42);
  return {
    name,
    size,
    kind: readKind(name, mode),
    isExecutable: (mode & 0o100) !== 0,
    read: () => {
      const packed = readPacked(bytes, localAt, packedSize);
      const content = method === STORED ? packed : inflate(packed, size);
      if (content.length !== size || crc32(content) !== checksum) throw damagedError();
      return content;
    },
  };
}

/** Archives that were not written on Unix have no type of file. */
function readKind(name: string, mode: number): ZipEntry['kind'] {
  const type = mode & 0o170_000;
  if (type === 0o040_000 || (type === 0 && name.endsWith('/'))) return 'folder';
  return type === 0 || type === 0o100_000 ? 'file' : 'other';
}

function readPacked(bytes: Buffer, localAt: number, packedSize: number): Buffer {
  if (localAt + LOCAL_SIZE > bytes.length || bytes.readUInt32LE(localAt) !== LOCAL_RECORD)
    throw damagedError();
  const start = localAt + LOCAL_SIZE + bytes.readUInt16LE(localAt + 26) + bytes.readUInt16LE(localAt + 28);
  if (start + packedSize > bytes.length) throw damagedError();
  return bytes.subarray(start, start + packedSize);
}

/** The stated size limits the output, so a small archive cannot expand without bound. */
function inflate(packed: Buffer, size: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    throw damagedError(error);
  }
}

function damagedError(cause?: unknown): Error {
  return new Error('it is damaged', { cause });
}
