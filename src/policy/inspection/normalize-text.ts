/** Letters that look like Latin letters, each with the Latin letter. Attackers use them to disguise words. */
const LATIN_LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
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
  ].flatMap(([letters = '', latin = '']) => Array.from(letters).map((letter) => [letter, latin])),
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
  return lower.replaceAll(/[\p{L}\p{M}]+/gu, (word) =>
    !isAscii(word) && (/[a-z]/.test(word) || consistsOfLookAlikes(word))
      ? Array.from(word)
          .map((letter) => LATIN_LOOK_ALIKES[letter] ?? letter)
          .join('')
      : word,
  );
}

function consistsOfLookAlikes(word: string): boolean {
  for (const letter of word) if (!(letter in LATIN_LOOK_ALIKES)) return false;
  return true;
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- The range is all of ASCII.
  return /^[\u0000-\u007F]*$/.test(text);
}
