import type { Look } from './state.ts';

/** Red, green, blue and opacity of each pixel, row after row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rgba: Buffer;
}

type Shape = (x: number, y: number) => boolean;
type Colour = readonly [number, number, number];

/** Points per pixel and direction, for smooth edges. */
const FINE = 4;

const TILES: Readonly<Record<Look, Colour>> = {
  well: [15, 118, 110],
  attention: [180, 83, 9],
  paused: [71, 85, 105],
  away: [107, 114, 128],
};
const WHITE: Colour = [255, 255, 255];

/**
 * The icon: three lines that become one, on a tile that is seen on light and dark panels. Each look has a shape of its own, so
 * that nobody has to tell colours apart: an exclamation mark, two bars, a line that is cut.
 */
export function drawIcon(look: Look, size: number): Picture {
  const rgba = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const tile = coverage(TILE, { x, y, size });
      const mark = Math.min(tile, coverage(MARKS[look], { x, y, size }));
      const at = (y * size + x) * 4;
      for (const channel of [0, 1, 2] as const)
        rgba[at + channel] = Math.round(TILES[look][channel] * (1 - mark) + WHITE[channel] * mark);
      rgba[at + 3] = Math.round(tile * 255);
    }
  return { width: size, height: size, rgba };
}

/** How much of a pixel a shape covers, from 0 to 1; shapes know a square from 0 to 1. */
function coverage(shape: Shape, { x, y, size }: { x: number; y: number; size: number }): number {
  let hits = 0;
  for (let fine = 0; fine < FINE * FINE; fine++) {
    const dx = ((fine % FINE) + 0.5) / FINE;
    const dy = (Math.floor(fine / FINE) + 0.5) / FINE;
    if (shape((x + dx) / size, (y + dy) / size)) hits++;
  }
  return hits / (FINE * FINE);
}

const TILE: Shape = (x, y) => {
  const radius = 0.22;
  const dx = Math.max(radius - x, 0, x - (1 - radius));
  const dy = Math.max(radius - y, 0, y - (1 - radius));
  return dx * dx + dy * dy <= radius * radius;
};

const MARKS: Readonly<Record<Look, Shape>> = {
  well: any(stroke(0.2, 0.24, 0.54, 0.5), stroke(0.2, 0.5, 0.8, 0.5), stroke(0.2, 0.76, 0.54, 0.5)),
  attention: any(stroke(0.5, 0.22, 0.5, 0.56, 0.075), dot(0.5, 0.76, 0.085)),
  paused: any(stroke(0.37, 0.28, 0.37, 0.72, 0.08), stroke(0.63, 0.28, 0.63, 0.72, 0.08)),
  away: any(stroke(0.2, 0.5, 0.36, 0.5), stroke(0.64, 0.5, 0.8, 0.5), stroke(0.4, 0.74, 0.6, 0.26, 0.045)),
};

function stroke(x1: number, y1: number, x2: number, y2: number, half = 0.062): Shape {
  const [dx, dy] = [x2 - x1, y2 - y1];
  return (x, y) => {
    const along = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
    return Math.hypot(x - x1 - along * dx, y - y1 - along * dy) <= half;
  };
}

function dot(cx: number, cy: number, radius: number): Shape {
  return (x, y) => Math.hypot(x - cx, y - cy) <= radius;
}

function any(...shapes: readonly Shape[]): Shape {
  return (x, y) => shapes.some((shape) => shape(x, y));
}
