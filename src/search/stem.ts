interface Ending {
  readonly ending: string;
  readonly becomes: string;
  /** What must remain before the ending. */
  readonly rest: number;
}

const DERIVED: readonly Ending[] = [
  { ending: 'ization', becomes: 'iz', rest: 3 },
  { ending: 'isation', becomes: 'iz', rest: 3 },
  { ending: 'izer', becomes: 'iz', rest: 3 },
  { ending: 'ise', becomes: 'iz', rest: 5 },
  { ending: 'ation', becomes: 'at', rest: 2 },
  { ending: 'ator', becomes: 'at', rest: 3 },
  { ending: 'ition', becomes: 'it', rest: 3 },
  { ending: 'ction', becomes: 'ct', rest: 2 },
  { ending: 'ption', becomes: 'pt', rest: 3 },
  { ending: 'ution', becomes: 'ut', rest: 3 },
  { ending: 'etion', becomes: 'et', rest: 3 },
  { ending: 'ssion', becomes: 'ss', rest: 2 },
  { ending: 'ctor', becomes: 'ct', rest: 3 },
  { ending: 'itor', becomes: 'it', rest: 3 },
  { ending: 'utor', becomes: 'ut', rest: 3 },
  { ending: 'ement', becomes: '', rest: 4 },
  { ending: 'ment', becomes: '', rest: 4 },
  { ending: 'fulness', becomes: '', rest: 3 },
  { ending: 'iness', becomes: 'i', rest: 3 },
  { ending: 'ness', becomes: '', rest: 4 },
  { ending: 'ically', becomes: 'ic', rest: 3 },
  { ending: 'ical', becomes: 'ic', rest: 3 },
  { ending: 'ously', becomes: 'ous', rest: 3 },
  { ending: 'ly', becomes: '', rest: 4 },
  { ending: 'able', becomes: '', rest: 4 },
  { ending: 'ible', becomes: '', rest: 4 },
  { ending: 'ability', becomes: '', rest: 3 },
  { ending: 'ity', becomes: '', rest: 4 },
  { ending: 'er', becomes: '', rest: 4 },
];

/** Nouns whose ending only looks like that of a doer or a result; cut, they would meet another word. */
const WHOLE: ReadonlySet<string> = new Set(
  (
    'customer server folder number order paper letter character computer member weather master counter border corner chapter ' +
    'department apartment document comment element moment environment segment experiment parameter newsletter ' +
    'station nation ration organization university variable reply supply apply family assembly news series species'
  ).split(' '),
);

/** Cuts the endings that change a word's form but rarely its meaning; words in other alphabets stay as they are. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const singular = withoutPlural(word);
  if (WHOLE.has(singular)) return settled(singular);
  const plain = withoutTense(singular);
  if (WHOLE.has(plain)) return settled(plain);
  return settled(withoutDerivation(plain));
}

function withoutPlural(word: string): string {
  if (!word.endsWith('s') || /(?:ss|us|is)$/.test(word) || WHOLE.has(word)) return word;
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(?:ch|sh|x|ss|zz)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function withoutTense(word: string): string {
  const cut = /^(.*[aeiouy].*?)(?:ing|ed)$/.exec(word)?.[1];
  if (cut === undefined || cut.length < 3 || word.endsWith('eed')) return word;
  return /([^aeioulsz])\1$/.test(cut) ? cut.slice(0, -1) : cut;
}

function withoutDerivation(word: string): string {
  for (const { ending, becomes, rest } of DERIVED) {
    if (word.endsWith(ending) && word.length - ending.length >= rest)
      return word.slice(0, -ending.length) + becomes;
  }
  return word;
}

/** A silent `e` and the two spellings of a final `y` must not tell forms of one word apart. */
function settled(word: string): string {
  if (word.length > 3 && word.endsWith('e') && !word.endsWith('ee')) return word.slice(0, -1);
  if (word.length > 3 && /[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}i`;
  return word;
}
