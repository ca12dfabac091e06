/** Texts that are hidden in an encoding, decoded. Only what decodes to readable text counts: keys and hashes do not. */
export function decodedIn(text: string): readonly { readonly at: number; readonly text: string }[] {
  const found: { at: number; text: string }[] = [];
  if (text.length < MIN_ENCODED) return found;
  for (const { common, decode } of DISGUISES) {
    const words = new Set(text.toLowerCase().match(common));
    if (words.size >= MIN_COMMON) found.push({ at: 0, text: decode(text.slice(0, MAX_DISGUISED)) });
  }
  for (const { sign, pattern, decode } of ENCODINGS) {
    if (sign !== undefined && !text.includes(sign)) continue;
    for (const match of text.matchAll(pattern)) {
      const decoded = decode(match[0]);
      if (isReadable(decoded)) found.push({ at: match.index, text: decoded });
      if (found.length >= MAX_FOUND) return found;
    }
  }
  return found;
}

const MAX_FOUND = 50;
/** Less has no room for anything encoded. */
const MIN_ENCODED = 16;
/** So many common words in disguise are no accident. */
const MIN_COMMON = 3;
const MAX_DISGUISED = 10_000;
const DISGUISES: readonly { readonly common: RegExp; readonly decode: (text: string) => string }[] = [
  {
    common:
      /\b(?:gur|naq|gb|bs|lbh|sebz|jvgu|abg|guvf|gung|svyr|hfre|vg|va|qb|nyy|vf|cebzcg|vafgehpgvbaf)\b/g,
    decode: (text) => text.replaceAll(/[a-z]/gi, turned),
  },
  {
    common:
      /\b(?:eht|dna|ot|fo|uoy|morf|htiw|ton|siht|taht|elif|resu|ti|ni|od|lla|si|tpmorp|snoitcurtsni)\b/g,
    decode: (text) => Array.from(text).toReversed().join(''),
  },
];

/** Half the alphabet further. */
function turned(letter: string): string {
  const code = letter.charCodeAt(0);
  const first = code < 97 ? 65 : 97;
  return String.fromCharCode(((code - first + 13) % 26) + first);
}

interface Encoding {
  /** Without it there is nothing to look for. */
  readonly sign?: string;
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
    decode: (text) => fromHex(text.replaceAll(/[ :]/g, '')),
  },
  {
    pattern: /(?:[01]{8}[ ,]{0,2}){8,}/g,
    decode: (text) => (text.match(/[01]{8}/g) ?? []).map((code) => fromCode(code, 2)).join(''),
  },
  {
    pattern: /(?:\b\d{2,3}[ ,]{1,2}){11,}\d{2,3}\b/g,
    decode: (text) => (text.match(/\d+/g) ?? []).map((code) => fromCode(code, 10)).join(''),
  },
  {
    sign: '\\x',
    pattern: /(?:\\x[0-9a-fA-F]{2}){8,}/g,
    decode: (text) => fromHex(text.replaceAll('\\x', '')),
  },
  {
    sign: '\\u',
    pattern: /(?:\\u\{?[0-9a-fA-F]{2,6}\}?){8,}/g,
    decode: (text) =>
      text.replaceAll(/\\u\{?([0-9a-fA-F]{2,6})\}?/g, (_, code: string) => fromCode(code, 16)),
  },
  {
    sign: '&#',
    pattern: /(?:&#x?[0-9a-fA-F]{2,6}; ?){8,}/g,
    decode: (text) =>
      text.replaceAll(/&#(x?)([0-9a-fA-F]{2,6});/g, (_, hex: string, code: string) =>
        fromCode(code, hex === 'x' ? 16 : 10),
      ),
  },
  {
    sign: '%',
    pattern: /(?:[A-Za-z0-9._~-]{0,12}%[0-9a-fA-F]{2}){8,}[A-Za-z0-9._~-]{0,20}/g,
    decode: (text) => text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, code: string) => fromCode(code, 16)),
  },
];

function fromHex(text: string): string {
  return Buffer.from(text, 'hex').toString('utf8');
}

function fromCode(code: string, base: number): string {
  const point = Number.parseInt(code, base);
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : '';
}

/** Words with spaces between them, in letters. */
function isReadable(text: string): boolean {
  if (text.length < 12 || !/\p{L}{2}[ ,.:/]{1,4}\p{L}{2}/u.test(text)) return false;
  const readable = text.match(/[\p{L}\p{N} .,:;!?'"()/@_-]/gu)?.length ?? 0;
  return readable / text.length > 0.9;
}
