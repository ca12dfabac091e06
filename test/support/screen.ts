import { readFileSync, writeFileSync } from 'node:fs';

import { encodePng } from '../../src/cli/tray/encode-image.ts';

export type Colour = readonly [number, number, number];

/** Reads the screen of Xvfb from its XWD file. */
export class Screen {
  readonly width: number;
  readonly height: number;
  readonly #bytes: Buffer;
  readonly #begin: number;
  readonly #bytesPerLine: number;

  constructor(file: string) {
    this.#bytes = readFileSync(file);
    const word = (at: number): number => this.#bytes.readUInt32BE(at * 4);
    [this.width, this.height] = [word(4), word(5)];
    this.#bytesPerLine = word(12);
    // The header is followed by the colour table.
    this.#begin = word(0) + word(19) * 12;
  }

  at(x: number, y: number): Colour {
    const from = this.#begin + y * this.#bytesPerLine + x * 4;
    const [blue = 0, green = 0, red = 0] = this.#bytes.subarray(from, from + 3);
    return [red, green, blue];
  }

  count(colour: Colour): number {
    return this.#places(colour).length;
  }

  /** Returns the centre of all pixels with exactly this colour. */
  find(colour: Colour): { readonly x: number; readonly y: number } | undefined {
    const places = this.#places(colour);
    if (places.length === 0) return undefined;
    const middle = (values: readonly number[]): number =>
      Math.round((Math.min(...values) + Math.max(...values)) / 2);
    return { x: middle(places.map(([x]) => x)), y: middle(places.map(([, y]) => y)) };
  }

  /** Saves the upper left part of the screen as a PNG file. */
  save(path: string, { width = this.width, height = this.height } = {}): void {
    const rgba = Buffer.alloc(width * height * 4, 255);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) rgba.set(this.at(x, y), (y * width + x) * 4);
    writeFileSync(path, encodePng({ width, height, rgba }));
  }

  #places(colour: Colour): readonly (readonly [number, number])[] {
    const [red, green, blue] = colour;
    const places: [number, number][] = [];
    for (let y = 0; y < this.height; y++)
      for (let x = 0; x < this.width; x++) {
        const [r, g, b] = this.at(x, y);
        if (r === red && g === green && b === blue) places.push([x, y]);
      }
    return places;
  }
}
