/** Beyond it a sentence is cut, so that the work on one stays small. */
const MAX_SENTENCE = 600;
/** A dot ends a sentence only before a space; it is part of `.env` and of addresses. */
const ENDS = /(?<!\b(?:e\.g|i\.e|etc|vs|incl|approx))[.!?;]+(?=\s|$)|[\u3002\u061F\uFF01\uFF1F\uFF1B]+|\n/u;

/** The text in sentences of bounded length. */
export function sentencesOf(text: string): readonly string[] {
  // A line that is only broken goes on; an empty line ends what was said.
  const lines = text.replaceAll(/\s{2,}|[^\S ]/g, (blank) => (blank.split('\n', 3).length > 2 ? '\n' : ' '));
  const parts = lines.split(ENDS).map((part) => part.trim());
  return parts.flatMap((part) => {
    if (part.length < 3) return [];
    if (part.length <= MAX_SENTENCE) return [part];
    const windows: string[] = [];
    // Halves overlap, so that what meets at a cut is seen.
    for (let at = 0; at < part.length; at += MAX_SENTENCE / 2)
      windows.push(part.slice(at, at + MAX_SENTENCE));
    return windows;
  });
}
