/** Beyond it a sentence is cut, so that the work on one stays small. */
const MAX_SENTENCE = 600;
/** A dot ends a sentence only before a space; it is part of `.env` and of addresses. */
const ENDS = /[.!?;]+(?=\s|$)|[\u3002\u061F]+|\n/u;

/** The text in sentences of bounded length, with identifiers as words beside them. */
export function sentencesOf(text: string): readonly string[] {
  // A line that is only broken goes on; an empty line ends what was said.
  const lines = text.replaceAll(/\s+/g, (blank) => (blank.split('\n', 3).length > 2 ? '\n' : ' '));
  const parts = lines.split(ENDS).map((part) => part.trim());
  return parts.flatMap((part) => {
    if (part.length < 8) return [];
    if (part.length <= MAX_SENTENCE) return [part];
    const windows: string[] = [];
    // Halves overlap, so that what meets at a cut is seen.
    for (let at = 0; at < part.length; at += MAX_SENTENCE / 2)
      windows.push(part.slice(at, at + MAX_SENTENCE));
    return windows;
  });
}

/** `contentFromReading_id_rsa` as words; undefined for what is no identifier. */
export function wordsOfName(text: string): string | undefined {
  if (text.length < 12 || text.length > 300 || /\s/.test(text)) return undefined;
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
    .trim();
}
