import { formatShape, shapeOf } from './json-shape.ts';

/** Describes a JSON array or object, such as `JSON {id: number, name: string}[] (3)`; returns undefined for any other text. */
export function describeJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text.slice(0, 1_000))) return undefined;
  try {
    return `JSON ${formatShape(shapeOf(JSON.parse(text)))}`;
  } catch {
    return undefined; // The text only looks like JSON and is read as lines.
  }
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en-US');
}
