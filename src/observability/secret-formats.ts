import { completeAtOnce } from '../core/lib/complete-in-slices.ts';

/** A kind of secret that is recognized by its prefix; the pattern matches the whole secret. */
export interface SecretFormat {
  readonly id: string;
  /** Must be global, for replacing all matches, and bounded, to be fast on any text. */
  readonly pattern: RegExp;
}

/** The formats that the audit log, the guards and the server logs recognize. */
export const SECRET_FORMATS: readonly SecretFormat[] = [
  { id: 'aws-key', pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  {
    id: 'github-token',
    pattern: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g,
  },
  { id: 'gitlab-token', pattern: /(?<![A-Za-z0-9])gl(?:pat|ptt|dt|rt|soat|cbt|ft)-[A-Za-z0-9_-]{16,}/g },
  { id: 'slack-token', pattern: /(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}/g },
  { id: 'anthropic-key', pattern: /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{16,}/g },
  { id: 'openai-key', pattern: /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}/g },
  { id: 'stripe-key', pattern: /(?<![A-Za-z0-9])(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}/g },
  {
    id: 'google-key',
    pattern: /(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})/g,
  },
  {
    id: 'service-token',
    pattern:
      /(?<![A-Za-z0-9])(?:npm_|hf_|dop_v1_|shpat_|shpss_|figd_|lin_api_|ntn_|secret_|pypi-|dckr_pat_|sntrys_|SG\.|PMAK-|r8_|nvapi-|glsa_|atlassian_)[A-Za-z0-9._-]{16,}/g,
  },
  {
    // Keys of callers, access and refresh tokens, admin keys, and cookies of the dashboard. Only the prefix `tladmin_` is so rare in
    // other names that truncated keys are matched as well.
    id: 'trunkline-key',
    pattern:
      /(?<![A-Za-z0-9])(?:tl[ar]?_[A-Za-z0-9_-]{43,}|tladmin_[A-Za-z0-9_-]{16,}|(?:__Host-trunkline|trunkline_\d{1,5})=[A-Za-z0-9_-]{43,})/g,
  },
  {
    id: 'jwt',
    pattern: /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,600}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,4000}/g,
  },
  {
    id: 'private-key',
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  },
];

/** Matches the prefixes of all formats, so that most texts need only one search. Every new format must be added here, too. */
const PREFIXES =
  /AKIA|ASIA|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|soat|cbt|ft)-|xox[abeoprs]-|xapp-|sk[-_]|[pr]k_|whsec_|AIza|ya29\.|GOCSPX-|npm_|hf_|dop_v1_|shp(?:at|ss)_|figd_|lin_api_|ntn_|secret_|pypi-|dckr_pat_|sntrys_|SG\.|PMAK-|r8_|nvapi-|glsa_|atlassian_|tl(?:[ar]|admin)?_|trunkline(?:_\d{1,5})?=|eyJ|-----BEGIN/;

/** Words that are long enough to be a random secret. */
const WORD = /[A-Za-z0-9+/_=-]{24,200}/g;
/** A text is searched for random words in parts of this length, each of which takes a few milliseconds. */
const PART_CHARS = 64 * 1024;
const UUID_OR_HEX = /^(?:[0-9a-fA-F]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})$/;
/** The minimum entropy of a random word, in bits per character. */
const MIN_BITS = 4.2;

export interface SecretSearch {
  /** A cheap check: true for every text that contains a secret, and for few others. */
  mayContain(text: string): boolean;
  /** Returns the ids of the formats that occur in the text. */
  find(text: string): readonly string[];
  /** Does the same as `find` in steps, because each search of a long text takes milliseconds. */
  findSteps(text: string): Generator<undefined, readonly string[]>;
  /** Replaces every secret in the text. */
  mask(text: string, replacement: string): string;
  maskSteps(text: string, replacement: string): Generator<undefined, string>;
}

/** Creates a search for the known formats, for custom patterns and, with `entropy`, for random words. */
export function createSecretSearch(
  options: { readonly entropy?: boolean; readonly patterns?: readonly SecretFormat[] } = {},
): SecretSearch {
  const customFormats = options.patterns ?? [];
  const formats = [...SECRET_FORMATS, ...customFormats];
  const checksEntropy = options.entropy === true;
  const mayContain = (text: string): boolean =>
    checksEntropy || customFormats.length > 0 || PREFIXES.test(text);
  function* findSteps(text: string): Generator<undefined, readonly string[]> {
    if (!mayContain(text)) return [];
    const found: string[] = [];
    for (const { id, pattern } of formats) {
      if (text.search(pattern) >= 0) found.push(id);
      yield;
    }
    if (checksEntropy) {
      for (const part of splitBetweenWords(text)) {
        if ((part.match(WORD) ?? []).some(isRandom)) return [...found, 'high-entropy'];
        yield;
      }
    }
    return found;
  }
  function* maskSteps(text: string, replacement: string): Generator<undefined, string> {
    if (!mayContain(text)) return text;
    let masked = text;
    for (const { pattern } of formats) {
      masked = masked.replace(pattern, () => replacement);
      yield;
    }
    if (!checksEntropy) return masked;
    let out = '';
    for (const part of splitBetweenWords(masked)) {
      out += part.replaceAll(WORD, (word) => (isRandom(word) ? replacement : word));
      yield;
    }
    return out;
  }
  return {
    mayContain,
    find: (text) => completeAtOnce(findSteps(text)),
    findSteps,
    mask: (text, replacement) => completeAtOnce(maskSteps(text, replacement)),
    maskSteps,
  };
}

/** Splits a text into parts of at least `PART_CHARS` characters that begin and end between words. */
function* splitBetweenWords(text: string): Generator<string> {
  const boundary = /[^A-Za-z0-9+/_=-]/g;
  for (let start = 0; start < text.length;) {
    boundary.lastIndex = start + PART_CHARS;
    const end = boundary.exec(text)?.index ?? text.length;
    yield text.slice(start, end);
    start = end;
  }
}

/** Whether a word mixes digits and letters of both cases at random. Hexadecimal ids and hashes are common and not secret. */
function isRandom(word: string): boolean {
  if (UUID_OR_HEX.test(word) || !/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false;
  const counts = new Map<string, number>();
  for (const letter of word) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  // The Shannon entropy of the word's characters.
  let bits = 0;
  for (const count of counts.values()) bits -= (count / word.length) * Math.log2(count / word.length);
  return bits >= MIN_BITS;
}
