/** A kind of secret that is known by how it begins; the rest of the word goes with it. */
export interface SecretFormat {
  readonly id: string;
  /** Global, so that it can replace. Bounded, so that no text takes long. */
  readonly pattern: RegExp;
}

/** The one list of formats; the record, the guards and the log use it. */
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
    id: 'jwt',
    pattern: /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,600}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,4000}/g,
  },
  {
    id: 'private-key',
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  },
];

/** How all of them begin. One look over a text that has none of them is all that most texts cost. */
const BEGINNINGS =
  /AKIA|ASIA|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|soat|cbt|ft)-|xox[abeoprs]-|xapp-|sk[-_]|[pr]k_|whsec_|AIza|ya29\.|GOCSPX-|npm_|hf_|dop_v1_|shp(?:at|ss)_|figd_|lin_api_|ntn_|secret_|pypi-|dckr_pat_|sntrys_|SG\.|PMAK-|r8_|nvapi-|glsa_|atlassian_|eyJ|-----BEGIN/;

const WORD = /[A-Za-z0-9+/_=-]{24,200}/g;
const UUID_OR_HEX = /^(?:[0-9a-fA-F]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})$/;
const MIN_BITS = 4.2;

export interface SecretSearch {
  /** Cheap; true for every text in which `find` finds something, and for few others. */
  mayHave(text: string): boolean;
  /** Which kinds of secrets are in it. */
  find(text: string): readonly string[];
  /** The text with every secret replaced. */
  mask(text: string, by: string): string;
}

export function secretSearch(
  options: { readonly entropy?: boolean; readonly patterns?: readonly SecretFormat[] } = {},
): SecretSearch {
  const own = options.patterns ?? [];
  const formats = [...SECRET_FORMATS, ...own];
  const looksRandom = options.entropy === true;
  const mayHave = (text: string): boolean => looksRandom || own.length > 0 || BEGINNINGS.test(text);
  return {
    mayHave,
    find: (text) => {
      if (!mayHave(text)) return [];
      const found = formats.filter(({ pattern }) => text.search(pattern) >= 0).map(({ id }) => id);
      return looksRandom && (text.match(WORD) ?? []).some(isRandom) ? [...found, 'high-entropy'] : found;
    },
    mask: (text, by) => {
      if (!mayHave(text)) return text;
      const known = formats.reduce((masked, { pattern }) => masked.replace(pattern, () => by), text);
      return looksRandom ? known.replaceAll(WORD, (word) => (isRandom(word) ? by : word)) : known;
    },
  };
}

/** Letters of both cases and digits in no order; hashes and ids are hexadecimal and everywhere. */
function isRandom(word: string): boolean {
  if (UUID_OR_HEX.test(word) || !/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false;
  const counts = new Map<string, number>();
  for (const letter of word) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / word.length) * Math.log2(count / word.length);
  return bits >= MIN_BITS;
}
