import { inflateSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { ICON_STATES } from './tray-state.ts';
import { drawIcon } from './draw-icon.ts';
import { encodeIco, encodePng } from './encode-image.ts';

/** Returns "#" for each pixel of which the mark covers more than half, whatever the colour of the tile is. */
function drawMark(state: (typeof ICON_STATES)[number]): string {
  const { rgba } = drawIcon(state, 22);
  const red = (at: number): number => rgba[at * 4] ?? 0;
  // No mark reaches the upper edge, so this pixel has the colour of the tile.
  const tile = red(2 * 22 + 11);
  const isMark = (at: number): boolean => (red(at) - tile) / (255 - tile) > 0.5;
  return Array.from({ length: 22 * 22 }, (_, at) => (isMark(at) ? '#' : '.')).join('');
}

describe('tray icon', () => {
  test('tray icon: differs in shape, not only in colour, for every state', () => {
    expect(new Set(ICON_STATES.map(drawMark)).size).toBe(ICON_STATES.length);
    for (const state of ICON_STATES) expect(drawMark(state)).toContain('##');
  });

  test('tray icon: has transparent corners and an opaque centre', () => {
    const { rgba } = drawIcon('healthy', 22);
    expect(rgba[3]).toBe(0);
    expect(rgba[(11 * 22 + 11) * 4 + 3]).toBe(255);
  });

  test('tray icon: encodes every pixel as PNG', () => {
    const image = drawIcon('paused', 16);
    const file = encodePng(image);
    expect(file.subarray(1, 4).toString('latin1')).toBe('PNG');
    const at = file.indexOf('IDAT');
    const rows = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)));
    expect(rows).toHaveLength(16 * (1 + 16 * 4));
    expect(rows.subarray(1, 1 + 64)).toEqual(image.rgba.subarray(0, 64));
  });

  test('tray icon: encodes Windows ICO files from the bottom row up', () => {
    const image = drawIcon('attention', 32);
    const file = encodeIco(image);
    expect(file.readUInt32LE(14)).toBe(file.length - 22);
    expect([...file.subarray(6, 8)]).toEqual([32, 32]);
    const [red, green, blue, opacity] = image.rgba.subarray((21 * 32 + 16) * 4);
    const at = 62 + (10 * 32 + 16) * 4;
    expect([...file.subarray(at, at + 4)]).toEqual([blue, green, red, opacity]);
  });
});
