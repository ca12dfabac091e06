interface EndingRule {
  readonly ending: string;
  readonly becomes: string;
  /** The minimum number of letters before the ending. */
  readonly minStemLength: number;
}

/** The first rule that applies is used, so a longer ending comes before the shorter one that it contains. */
const ENDING_RULES: readonly EndingRule[] = [
  { ending: 'ization', becomes: 'iz', minStemLength: 3 },
  { ending: 'isation', becomes: 'iz', minStemLength: 3 },
  { ending: 'izer', becomes: 'iz', minStemLength: 3 },
  { ending: 'ise', becomes: 'iz', minStemLength: 5 },
  { ending: 'ation', becomes: 'at', minStemLength: 2 },
  { ending: 'ator', becomes: 'at', minStemLength: 3 },
  { ending: 'ition', becomes: 'it', minStemLength: 3 },
  { ending: 'ction', becomes: 'ct', minStemLength: 2 },
  { ending: 'ption', becomes: 'pt', minStemLength: 3 },
  { ending: 'ution', becomes: 'ut', minStemLength: 3 },
  { ending: 'etion', becomes: 'et', minStemLength: 3 },
  { ending: 'ssion', becomes: 'ss', minStemLength: 2 },
  { ending: 'ctor', becomes: 'ct', minStemLength: 3 },
  { ending: 'itor', becomes: 'it', minStemLength: 3 },
  { ending: 'utor', becomes: 'ut', minStemLength: 3 },
  { ending: 'ement', becomes: '', minStemLength: 4 },
  { ending: 'ment', becomes: '', minStemLength: 4 },
  { ending: 'fulness', becomes: '', minStemLength: 3 },
  { ending: 'iness', becomes: 'i', minStemLength: 3 },
  { ending: 'ness', becomes: '', minStemLength: 4 },
  { ending: 'ically', becomes: 'ic', minStemLength: 3 },
  { ending: 'ical', becomes: 'ic', minStemLength: 3 },
  { ending: 'ously', becomes: 'ous', minStemLength: 3 },
  { ending: 'ly', becomes: '', minStemLength: 4 },
  { ending: 'able', becomes: '', minStemLength: 4 },
  { ending: 'ible', becomes: '', minStemLength: 4 },
  { ending: 'ability', becomes: '', minStemLength: 3 },
  { ending: 'ity', becomes: '', minStemLength: 4 },
  { ending: 'er', becomes: '', minStemLength: 4 },
];

/** Words that are not stemmed: their ending only looks like a suffix, and the stem would equal that of another word. */
const UNSTEMMED: ReadonlySet<string> = new Set(
  (
    'customer server folder number order paper letter character computer member weather master counter border corner chapter ' +
    'department apartment document comment element moment environment segment experiment parameter newsletter ' +
    'station nation ration organization university variable reply supply apply family assembly news series species'
  ).split(' '),
);

/** Removes endings that change a word's form but rarely its meaning; words in other alphabets stay unchanged. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const singular = withoutPlural(word);
  if (UNSTEMMED.has(singular)) return normalizeEnding(singular);
  const plain = withoutTense(singular);
  if (UNSTEMMED.has(plain)) return normalizeEnding(plain);
  return normalizeEnding(withoutDerivation(plain));
}

function withoutPlural(word: string): string {
  if (!word.endsWith('s') || /(?:ss|us|is)$/.test(word) || UNSTEMMED.has(word)) return word;
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(?:ch|sh|x|ss|zz)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** Removes `ing` or `ed`, and one letter of a doubled consonant before it: `running` becomes `run`. */
function withoutTense(word: string): string {
  const cut = /^(.*[aeiouy].*?)(?:ing|ed)$/.exec(word)?.[1];
  if (cut === undefined || cut.length < 3 || word.endsWith('eed')) return word;
  return /([^aeioulsz])\1$/.test(cut) ? cut.slice(0, -1) : cut;
}

function withoutDerivation(word: string): string {
  for (const { ending, becomes, minStemLength } of ENDING_RULES) {
    if (word.endsWith(ending) && word.length - ending.length >= minStemLength)
      return word.slice(0, -ending.length) + becomes;
  }
  return word;
}

/** Unifies forms of one word that differ in a silent `e` or in the spelling of a final `y`. */
function normalizeEnding(word: string): string {
  if (word.length > 3 && word.endsWith('e') && !word.endsWith('ee')) return word.slice(0, -1);
  if (word.length > 3 && /[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}i`;
  return word;
}
