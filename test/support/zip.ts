import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly content: string | Buffer;
  /** The mode of Unix, including the type of the file. */
  readonly mode?: number;
  /** The size that the archive states, if it lies. */
  readonly statedSize?: number;
}

/** Creates a ZIP archive. Names and sizes are written as given, so that archives can be malicious. */
export function createZip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100_644, statedSize } of files) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const label = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(statedSize ?? bytes.length, 18);
    common.writeUInt16LE(label.length, 22);
    const central = Buffer.alloc(14);
    central.writeUInt32LE(mode * 0x1_00_00, 6);
    central.writeUInt32LE(offset, 10);
    // The upper byte of the version says that the mode is that of Unix.
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, 20, 3]), common, central, label);
    const local = [Buffer.from([0x50, 0x4b, 3, 4]), common, label, packed];
    parts.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}
