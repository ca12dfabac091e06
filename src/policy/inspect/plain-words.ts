/** Letters that look like Latin ones, in the alphabets that are used to disguise words. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
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

const IGNORED = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** The text as a model understands it: without what does not show, in one alphabet, one case and one spacing. */
export function plainText(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replaceAll(/[ \t]{2,}|\t/g, ' ');
  return fold(text.normalize('NFKC').replaceAll(IGNORED, ''))
    .replaceAll(/[’‘´]/g, "'")
    .replaceAll(/[ \t\u00A0]+/g, ' ');
}

/** What a name looks like; two names of one look are easily taken for each other. */
export function look(name: string): string {
  return fold(name.normalize('NFKC').replaceAll(IGNORED, ''))
    .replaceAll(/[0oО]/g, 'o')
    .replaceAll(/[1il|]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll(/[^a-z]/g, '');
}

/** A word in one alphabet keeps its letters; only mixtures with Latin are a disguise. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  return lower.replaceAll(/[\p{L}\p{M}]+/gu, (word) =>
    !isAscii(word) && (/[a-z]/.test(word) || isAllAlike(word))
      ? Array.from(word)
          .map((letter) => LOOK_ALIKES[letter] ?? letter)
          .join('')
      : word,
  );
}

function isAllAlike(word: string): boolean {
  for (const letter of word) if (!(letter in LOOK_ALIKES)) return false;
  return true;
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- all of ASCII is meant.
  return /^[\u0000-\u007F]*$/.test(text);
}
