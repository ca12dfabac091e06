/** Letters that look like Latin letters, each with the Latin letter. Attackers use them to disguise words. */
const LATIN_LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  [
    ['аɑα', 'a'],
    ['Ьƅ', 'b'],
    ['сϲ', 'c'],
    ['ԁ', 'd'],
    ['еёҽ', 'e'],
    ['ɡ', 'g'],
    ['һ', 'h'],
    ['іıɩι', 'i'],
    ['ј', 'j'],
    ['κк', 'k'],
    ['ӏⅼ', 'l'],
    ['м', 'm'],
    ['ո', 'n'],
    ['оοօ', 'o'],
    ['рρ', 'p'],
    ['ԛ', 'q'],
    ['г', 'r'],
    ['ѕ', 's'],
    ['т', 't'],
    ['υս', 'u'],
    ['ν', 'v'],
    ['ԝ', 'w'],
    ['хχ', 'x'],
    ['уγ', 'y'],
    ['ᴢ', 'z'],
  ].flatMap(([letters = '', latin = '']) => Array.from(letters).map((letter) => [letter, latin] as const)),
);

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the text in lower case, without invisible characters, with Latin letters for look-alikes and with single spaces. */
export function normalizeText(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replaceAll(/[ \t]{2,}|\t/g, ' ');
  return foldLookAlikes(text.normalize('NFKC').replaceAll(INVISIBLE, ''))
    .replaceAll(/[’‘´]/g, "'")
    .replaceAll(/[ \t\u00A0]+/g, ' ');
}

/** Returns only the letters and digits of a name, in lower case, because honest servers differ in case and separators. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the visual skeleton of a name. Names with the same skeleton are easily mistaken for each other. */
export function visualSkeleton(name: string): string {
  return foldLookAlikes(name.normalize('NFKC').replaceAll(INVISIBLE, ''))
    .replaceAll(/[0oО]/g, 'o')
    .replaceAll(/[1il|]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll(/[^a-z]/g, '');
}

/** Replaces look-alikes in words that also contain Latin letters or consist only of look-alikes. Other words stay unchanged. */
function foldLookAlikes(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  return lower.replaceAll(/[\p{L}\p{M}]+/gu, (word) => (isAscii(word) ? word : foldWord(word)));
}

function foldWord(word: string): string {
  const hasLatin = /[a-z]/.test(word);
  let folded = '';
  // Each look-alike is one UTF-16 unit. No list of letters is created, because a hostile word has 100,000 of them.
  for (let at = 0; at < word.length; at++) {
    const letter = word.charAt(at);
    const latin = LATIN_LOOK_ALIKES.get(letter);
    if (latin === undefined && !hasLatin) return word;
    folded += latin ?? letter;
  }
  return folded;
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- The range is all of ASCII.
  return /^[\u0000-\u007F]*$/.test(text);
}
