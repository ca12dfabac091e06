import { SECRET_FORMATS } from '../secret-formats.ts';

/** Keys that are known by how they begin, and what stands where credentials are written. */
const KNOWN = [
  ...SECRET_FORMATS.map(({ pattern }) => pattern),
  /(?<=\b(?:[Bb]earer|[Bb]asic|[Tt]oken)\s+)[A-Za-z0-9._~+/=-]{8,}/g,
  // Keys and signatures in the query of an address.
  /(?<=[?&](?:key|sig|code|auth)=)[^&\s"'#]{4,}/gi,
  // The user part of an address.
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+(?=@)/g,
];

/** Names whose value is nobody's business; the words are looked for inside of names such as `dbPassword`. */
const NAMED =
  /pass(?:word|wd|phrase|code)?$|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization|cookie|^auth$|signature|^pin$|otp/i;

/** `name=value` and `"name": "value"` in text that is no JSON object of ours. */
const ASSIGNED =
  /(?<![\w-])([\w-]{0,40}(?:pass(?:word|wd|phrase)|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization)[\w-]{0,40}\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)([^\s"'&,;\\}]{4,})/gi;

export const REDACTED = '[redacted]';

/** The text without what looks like a secret. */
export function redactText(text: string): string {
  let out = text;
  for (const pattern of KNOWN) out = out.replace(pattern, REDACTED);
  return out.replace(ASSIGNED, (_, name: string) => name + REDACTED);
}

/** The value with secrets taken out of its texts, and out of everything whose name says that it is one. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 100) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      redactText(key),
      NAMED.test(key) && member !== null && typeof member !== 'boolean'
        ? REDACTED
        : redactValue(member, depth + 1),
    ]),
  );
}

/** A URI without user, query and fragment, in which secrets travel. */
export function redactUri(uri: string): string {
  const plain = uri.replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)[^/@]*@/, '$1');
  const end = plain.search(/[?#]/);
  return redactText(end < 0 ? plain : `${plain.slice(0, end)}${plain[end] ?? ''}…`);
}
