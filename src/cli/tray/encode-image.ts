import { crc32, deflateSync } from 'node:zlib';
import type { RgbaImage } from './draw-icon.ts';

/** Encodes the image as a PNG file. */
export function encodePng({ width, height, rgba }: RgbaImage): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, colour type 6 (RGBA).
  header.set([8, 6], 8);
  // Each row starts with a byte for its filter, and 0 means none.
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.concat([Buffer.of(0), rgba.subarray(y * width * 4, (y + 1) * width * 4)]),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    createChunk('IHDR', header),
    createChunk('IDAT', deflateSync(Buffer.concat(rows))),
    createChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Creates a PNG chunk: the length of the data, the name, the data and a checksum of name and data. */
function createChunk(name: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

const ICO_HEADER_BYTES = 6;
const ICO_ENTRY_BYTES = 16;
const BITMAP_HEADER_BYTES = 40;

/** Encodes the image as a Windows icon file. It contains a bitmap, which every version of Windows reads. */
export function encodeIco({ width: size, rgba }: RgbaImage): Buffer {
  // The format requires an additional mask of one bit per pixel, whose rows are padded to 32 bits.
  const maskBytes = Math.ceil(size / 32) * 4 * size;
  const imageBytes = BITMAP_HEADER_BYTES + size * size * 4 + maskBytes;
  const file = Buffer.alloc(ICO_HEADER_BYTES + ICO_ENTRY_BYTES + imageBytes);
  // The file header: type 1 (icon), one image.
  file.writeUInt16LE(1, 2);
  file.writeUInt16LE(1, 4);
  // The directory entry: width and height, one colour plane, 32 bits per pixel, the length and offset of the bitmap.
  file.set([size, size], ICO_HEADER_BYTES);
  file.writeUInt16LE(1, ICO_HEADER_BYTES + 4);
  file.writeUInt16LE(32, ICO_HEADER_BYTES + 6);
  file.writeUInt32LE(imageBytes, ICO_HEADER_BYTES + 8);
  file.writeUInt32LE(ICO_HEADER_BYTES + ICO_ENTRY_BYTES, ICO_HEADER_BYTES + 12);
  const bitmapOffset = ICO_HEADER_BYTES + ICO_ENTRY_BYTES;
  file.writeUInt32LE(BITMAP_HEADER_BYTES, bitmapOffset);
  file.writeInt32LE(size, bitmapOffset + 4);
  // The height counts the rows of the image and of the mask.
  file.writeInt32LE(size * 2, bitmapOffset + 8);
  file.writeUInt16LE(1, bitmapOffset + 12);
  file.writeUInt16LE(32, bitmapOffset + 14);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const offset = (y * size + x) * 4;
      const [red = 0, green = 0, blue = 0, opacity = 0] = rgba.subarray(offset, offset + 4);
      // Rows are stored from the bottom up.
      file.set(
        [blue, green, red, opacity],
        bitmapOffset + BITMAP_HEADER_BYTES + ((size - 1 - y) * size + x) * 4,
      );
    }
  return file;
}
