/** Maximum length of a sentence in characters. Longer ones are split, which bounds the work per sentence. */
const MAX_SENTENCE_LENGTH = 600;
/** A dot ends a sentence only before white space, because `.env` and addresses contain dots. */
const SENTENCE_END =
  /(?<!\b(?:e\.g|i\.e|etc|vs|incl|approx))[.!?;]+(?=\s|$)|[\u3002\u061F\uFF01\uFF1F\uFF1B]+|\n/u;

/** Splits a text into sentences of bounded length. */
export function splitSentences(text: string): readonly string[] {
  // A single line break continues the sentence; an empty line ends it.
  const unwrapped = text.replaceAll(/\s{2,}|[^\S ]/g, (blank) =>
    blank.split('\n', 3).length > 2 ? '\n' : ' ',
  );
  const sentences = unwrapped.split(SENTENCE_END).map((sentence) => sentence.trim());
  return sentences.flatMap((sentence) => {
    if (sentence.length < 3) return [];
    if (sentence.length <= MAX_SENTENCE_LENGTH) return [sentence];
    const parts: string[] = [];
    // Parts overlap by half, so that words on both sides of a cut are seen together.
    for (let start = 0; start < sentence.length; start += MAX_SENTENCE_LENGTH / 2)
      parts.push(sentence.slice(start, start + MAX_SENTENCE_LENGTH));
    return parts;
  });
}
