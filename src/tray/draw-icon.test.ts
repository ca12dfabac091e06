import { inflateSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { LOOKS } from './state.ts';
import { drawIcon } from './draw-icon.ts';
import { ico } from './ico.ts';
import { png } from './png.ts';

/** Where the mark covers more than half of a pixel, whatever the colour of the tile is. */
function shape(look: (typeof LOOKS)[number]): string {
  const { rgba } = drawIcon(look, 22);
  const red = (at: number): number => rgba[at * 4] ?? 0;
  // Near the upper edge, where no mark reaches.
  const tile = red(2 * 22 + 11);
  const isMark = (at: number): boolean => (red(at) - tile) / (255 - tile) > 0.5;
  return Array.from({ length: 22 * 22 }, (_, at) => (isMark(at) ? '#' : '.')).join('');
}

describe('icons', () => {
  test('differ in their shapes, not only in their colours', () => {
    expect(new Set(LOOKS.map(shape)).size).toBe(LOOKS.length);
    for (const look of LOOKS) expect(shape(look)).toContain('##');
  });

  test('have transparent corners and an opaque middle', () => {
    const { rgba } = drawIcon('well', 22);
    expect(rgba[3]).toBe(0);
    expect(rgba[(11 * 22 + 11) * 4 + 3]).toBe(255);
  });

  test('are PNG files of every pixel', () => {
    const picture = drawIcon('paused', 16);
    const file = png(picture);
    expect(file.subarray(1, 4).toString('latin1')).toBe('PNG');
    const at = file.indexOf('IDAT');
    const rows = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)));
    expect(rows).toHaveLength(16 * (1 + 16 * 4));
    expect(rows.subarray(1, 1 + 64)).toEqual(picture.rgba.subarray(0, 64));
  });

  test('are icon files of Windows, from the bottom up', () => {
    const picture = drawIcon('attention', 32);
    const file = ico(picture);
    expect(file.readUInt32LE(14)).toBe(file.length - 22);
    expect([...file.subarray(6, 8)]).toEqual([32, 32]);
    const [red, green, blue, opacity] = picture.rgba.subarray((21 * 32 + 16) * 4);
    const at = 62 + (10 * 32 + 16) * 4;
    expect([...file.subarray(at, at + 4)]).toEqual([blue, green, red, opacity]);
  });
});
