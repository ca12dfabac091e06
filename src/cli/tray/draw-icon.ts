import type { IconState } from './tray-state.ts';

export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  /** Four bytes per pixel (red, green, blue, opacity), row after row from the top. */
  readonly rgba: Buffer;
}

/** Returns whether a shape covers a point. Both coordinates range from 0 to 1, from the top left. */
type Shape = (x: number, y: number) => boolean;
type Colour = readonly [number, number, number];

/** The number of sample points per pixel in each direction, for smooth edges. */
const SAMPLES_PER_AXIS = 4;

const TILE_COLOURS: Readonly<Record<IconState, Colour>> = {
  healthy: [15, 118, 110],
  attention: [180, 83, 9],
  paused: [71, 85, 105],
  offline: [107, 114, 128],
};
const WHITE: Colour = [255, 255, 255];

/**
 * Draws the icon: a white mark on a coloured tile, which is visible on light and dark panels. Each state has its own mark, so
 * that users who cannot tell the colours apart recognize it: three lines that join, an exclamation mark, two bars, an interrupted line.
 */
export function drawIcon(state: IconState, size: number): RgbaImage {
  const rgba = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const tileCoverage = measureCoverage(TILE, { x, y, size });
      const markCoverage = Math.min(tileCoverage, measureCoverage(MARKS[state], { x, y, size }));
      const offset = (y * size + x) * 4;
      for (const channel of [0, 1, 2] as const)
        rgba[offset + channel] = Math.round(
          TILE_COLOURS[state][channel] * (1 - markCoverage) + WHITE[channel] * markCoverage,
        );
      rgba[offset + 3] = Math.round(tileCoverage * 255);
    }
  return { width: size, height: size, rgba };
}

/** Returns how much of a pixel the shape covers, from 0 to 1. */
function measureCoverage(shape: Shape, { x, y, size }: { x: number; y: number; size: number }): number {
  let hits = 0;
  for (let sample = 0; sample < SAMPLES_PER_AXIS * SAMPLES_PER_AXIS; sample++) {
    const dx = ((sample % SAMPLES_PER_AXIS) + 0.5) / SAMPLES_PER_AXIS;
    const dy = (Math.floor(sample / SAMPLES_PER_AXIS) + 0.5) / SAMPLES_PER_AXIS;
    if (shape((x + dx) / size, (y + dy) / size)) hits++;
  }
  return hits / (SAMPLES_PER_AXIS * SAMPLES_PER_AXIS);
}

/** A square with rounded corners: all points within the radius of a smaller inner square. */
const TILE: Shape = (x, y) => {
  const radius = 0.22;
  const dx = Math.max(radius - x, 0, x - (1 - radius));
  const dy = Math.max(radius - y, 0, y - (1 - radius));
  return dx * dx + dy * dy <= radius * radius;
};

const MARKS: Readonly<Record<IconState, Shape>> = {
  healthy: union(stroke(0.2, 0.24, 0.54, 0.5), stroke(0.2, 0.5, 0.8, 0.5), stroke(0.2, 0.76, 0.54, 0.5)),
  attention: union(stroke(0.5, 0.22, 0.5, 0.56, 0.075), dot(0.5, 0.76, 0.085)),
  paused: union(stroke(0.37, 0.28, 0.37, 0.72, 0.08), stroke(0.63, 0.28, 0.63, 0.72, 0.08)),
  offline: union(
    stroke(0.2, 0.5, 0.36, 0.5),
    stroke(0.64, 0.5, 0.8, 0.5),
    stroke(0.4, 0.74, 0.6, 0.26, 0.045),
  ),
};

/** Returns a line with round ends: all points whose distance from the line segment is at most half the width. */
function stroke(x1: number, y1: number, x2: number, y2: number, halfWidth = 0.062): Shape {
  const [dx, dy] = [x2 - x1, y2 - y1];
  return (x, y) => {
    // The nearest point of the segment, from 0 (its start) to 1 (its end).
    const position = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
    return Math.hypot(x - x1 - position * dx, y - y1 - position * dy) <= halfWidth;
  };
}

function dot(cx: number, cy: number, radius: number): Shape {
  return (x, y) => Math.hypot(x - cx, y - cy) <= radius;
}

function union(...shapes: readonly Shape[]): Shape {
  return (x, y) => shapes.some((shape) => shape(x, y));
}
