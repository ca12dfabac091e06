type Kind = 'latin' | 'digit' | 'space' | 'sign' | 'ideograph' | 'letter' | 'other';

/** Characters of a kind that make one token of a model's vocabulary, on average. */
const CHARS_PER_TOKEN: Readonly<Record<Kind, number>> = {
  latin: 10,
  digit: 3,
  space: Infinity,
  sign: 4,
  ideograph: 1.3,
  letter: 4,
  other: 1,
};

/**
 * About how many tokens a text costs, rather too many than too few, so that budgets hold. Character by character, since the
 * first use of an expression over scripts costs more than all of this.
 */
export function estimateTokens(text: string, stopAt = Infinity): number {
  let tokens = 0;
  let run = 0;
  let previous: Kind = 'space';
  for (let at = 0; at < text.length && tokens <= stopAt; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    // `inputSchema` is two words.
    const isNewWord = kind === 'latin' && isUpper(code) && run > 0 && !isUpper(text.charCodeAt(at - 1));
    if (kind === previous && !isNewWord) {
      run += 1;
      continue;
    }
    tokens += cost(previous, run);
    previous = kind;
    run = 1;
  }
  return Math.ceil(tokens + cost(previous, run));
}

/** Letters beyond those of any common word: a key, a hash, or words written together. */
const LONG_WORD = 20;

/** A single space belongs to the word behind it. */
function cost(kind: Kind, run: number): number {
  if (kind === 'space') return run > 1 ? Math.ceil(run / 100) : 0;
  if (kind === 'latin' && run > LONG_WORD) return 2 + Math.ceil((run - LONG_WORD) / 3);
  return kind === 'ideograph' ? run / CHARS_PER_TOKEN.ideograph : Math.ceil(run / CHARS_PER_TOKEN[kind]);
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function kindOf(code: number): Kind {
  if (code < 0x80) {
    if (isUpper(code) || (code >= 97 && code <= 122)) return 'latin';
    if (code >= 48 && code <= 57) return 'digit';
    return code === 32 || (code >= 9 && code <= 13) ? 'space' : 'sign';
  }
  if (code >= 0xc0 && code <= 0x24f) return 'latin';
  if (code >= 0x370 && code <= 0x1fff) return 'letter';
  const isIdeograph = (code >= 0x2e80 && code <= 0xd7ff) || (code >= 0xf900 && code <= 0xfaff);
  return isIdeograph ? 'ideograph' : 'other';
}
