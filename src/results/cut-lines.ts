import { Cuts } from './cuts.ts';

/** A text as lines with their ends. */
export function cutLines(text: string, most: number): Cuts {
  const cuts = new Cuts(text, most);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) cuts.add(at + 1);
  return cuts.finish();
}
