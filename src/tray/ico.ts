import type { Picture } from './draw-icon.ts';

const HEADER = 6;
const ENTRY = 16;
const BITMAP_HEADER = 40;

/** The picture as an icon file of Windows, as a bitmap, which every version of it reads. */
export function ico({ width: size, rgba }: Picture): Buffer {
  // Besides the opacity of each pixel there is an older mask of one bit, in rows of whole 32 bits.
  const maskBytes = Math.ceil(size / 32) * 4 * size;
  const imageBytes = BITMAP_HEADER + size * size * 4 + maskBytes;
  const file = Buffer.alloc(HEADER + ENTRY + imageBytes);
  file.writeUInt16LE(1, 2);
  file.writeUInt16LE(1, 4);
  file.set([size, size], HEADER);
  file.writeUInt16LE(1, HEADER + 4);
  file.writeUInt16LE(32, HEADER + 6);
  file.writeUInt32LE(imageBytes, HEADER + 8);
  file.writeUInt32LE(HEADER + ENTRY, HEADER + 12);
  const bitmap = HEADER + ENTRY;
  file.writeUInt32LE(BITMAP_HEADER, bitmap);
  file.writeInt32LE(size, bitmap + 4);
  // The height counts the mask as well.
  file.writeInt32LE(size * 2, bitmap + 8);
  file.writeUInt16LE(1, bitmap + 12);
  file.writeUInt16LE(32, bitmap + 14);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const from = (y * size + x) * 4;
      const [red = 0, green = 0, blue = 0, opacity = 0] = rgba.subarray(from, from + 4);
      // From the bottom up.
      file.set([blue, green, red, opacity], bitmap + BITMAP_HEADER + ((size - 1 - y) * size + x) * 4);
    }
  return file;
}
