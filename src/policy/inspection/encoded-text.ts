/** Finds and decodes texts that are hidden in an encoding. Only results that are readable text count, which excludes keys and hashes. */
export function findEncodedText(text: string): readonly { readonly at: number; readonly text: string }[] {
  const found: { at: number; text: string }[] = [];
  if (text.length < MIN_ENCODED_LENGTH) return found;
  for (const { commonWords, decode } of CIPHERS) {
    const words = new Set(text.toLowerCase().match(commonWords));
    if (words.size >= MIN_COMMON_WORDS) found.push({ at: 0, text: decode(text.slice(0, MAX_CIPHER_LENGTH)) });
  }
  for (const { marker, pattern, decode } of ENCODINGS) {
    if (marker !== undefined && !text.includes(marker)) continue;
    for (const match of text.matchAll(pattern)) {
      const decoded = decode(match[0]);
      if (isReadable(decoded)) found.push({ at: match.index, text: decoded });
      if (found.length >= MAX_FOUND) return found;
    }
  }
  return found;
}

const MAX_FOUND = 50;
/** Minimum length of a text that can contain encoded text. */
const MIN_ENCODED_LENGTH = 16;
/**
 * A text with at least this many different enciphered common words counts as enciphered. Fewer may occur by
 * chance.
 */
const MIN_COMMON_WORDS = 3;
const MAX_CIPHER_LENGTH = 10_000;

/** ROT13 and reversed text. Both are recognised by enciphered common English words. */
const CIPHERS: readonly { readonly commonWords: RegExp; readonly decode: (text: string) => string }[] = [
  {
    commonWords:
      /\b(?:gur|naq|gb|bs|lbh|sebz|jvgu|abg|guvf|gung|svyr|hfre|vg|va|qb|nyy|vf|cebzcg|vafgehpgvbaf)\b/g,
    decode: (text) => text.replaceAll(/[a-z]/gi, rot13),
  },
  {
    commonWords:
      /\b(?:eht|dna|ot|fo|uoy|morf|htiw|ton|siht|taht|elif|resu|ti|ni|od|lla|si|tpmorp|snoitcurtsni)\b/g,
    decode: (text) => Array.from(text).toReversed().join(''),
  },
];

function rot13(letter: string): string {
  const code = letter.charCodeAt(0);
  const first = code < 97 ? 65 : 97;
  return String.fromCharCode(((code - first + 13) % 26) + first);
}

interface Encoding {
  /** A string that every occurrence contains. It is searched first, because that is faster than the pattern. */
  readonly marker?: string;
  readonly pattern: RegExp;
  readonly decode: (text: string) => string;
}

const ENCODINGS: readonly Encoding[] = [
  {
    pattern: /[A-Za-z0-9+/_-]{24,}={0,2}/g,
    decode: (text) => Buffer.from(text, 'base64').toString('utf8'),
  },
  {
    pattern: /(?:[0-9a-fA-F]{2}[ :]?){16,}/g,
    decode: (text) => decodeHex(text.replaceAll(/[ :]/g, '')),
  },
  {
    pattern: /(?:[01]{8}[ ,]{0,2}){8,}/g,
    decode: (text) => (text.match(/[01]{8}/g) ?? []).map((code) => decodeCharacter(code, 2)).join(''),
  },
  {
    pattern: /(?:\b\d{2,3}[ ,]{1,2}){11,}\d{2,3}\b/g,
    decode: (text) => (text.match(/\d+/g) ?? []).map((code) => decodeCharacter(code, 10)).join(''),
  },
  {
    marker: '\\x',
    pattern: /(?:\\x[0-9a-fA-F]{2}){8,}/g,
    decode: (text) => decodeHex(text.replaceAll('\\x', '')),
  },
  {
    marker: '\\u',
    pattern: /(?:\\u\{?[0-9a-fA-F]{2,6}\}?){8,}/g,
    decode: (text) =>
      text.replaceAll(/\\u\{?([0-9a-fA-F]{2,6})\}?/g, (_, code: string) => decodeCharacter(code, 16)),
  },
  {
    marker: '&#',
    pattern: /(?:&#x?[0-9a-fA-F]{2,6}; ?){8,}/g,
    decode: (text) =>
      text.replaceAll(/&#(x?)([0-9a-fA-F]{2,6});/g, (_, hex: string, code: string) =>
        decodeCharacter(code, hex === 'x' ? 16 : 10),
      ),
  },
  {
    marker: '%',
    pattern: /(?:[A-Za-z0-9._~-]{0,12}%[0-9a-fA-F]{2}){8,}[A-Za-z0-9._~-]{0,20}/g,
    decode: (text) => text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, code: string) => decodeCharacter(code, 16)),
  },
];

function decodeHex(text: string): string {
  return Buffer.from(text, 'hex').toString('utf8');
}

function decodeCharacter(code: string, base: number): string {
  const point = Number.parseInt(code, base);
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : '';
}

/** Whether the text consists of words with spaces or punctuation between them. */
function isReadable(text: string): boolean {
  if (text.length < 12 || !/\p{L}{2}[ ,.:/]{1,4}\p{L}{2}/u.test(text)) return false;
  const readable = text.match(/[\p{L}\p{N} .,:;!?'"()/@_-]/gu)?.length ?? 0;
  return readable / text.length > 0.9;
}
