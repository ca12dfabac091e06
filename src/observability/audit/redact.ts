import { SECRET_FORMATS } from '../secret-formats.ts';

/** Matches known formats of secrets, and values in places where credentials usually are. */
const SECRET_PATTERNS = [
  ...SECRET_FORMATS.map(({ pattern }) => pattern),
  /(?<=\b(?:[Bb]earer|[Bb]asic|[Tt]oken)\s+)[A-Za-z0-9._~+/=-]{8,}/g,
  // Keys and signatures in the query of a URL.
  /(?<=[?&](?:key|sig|code|auth)=)[^&\s"'#]{4,}/gi,
  // The user and password of a URL.
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+(?=@)/g,
];

/** Matches names whose values are secret, including longer names such as `dbPassword`. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)?$|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization|cookie|^auth$|signature|^pin$|otp/i;

/** Matches `name=value` and `"name": "value"` inside texts. */
const SECRET_ASSIGNMENT =
  /(?<![\w-])([\w-]{0,40}(?:pass(?:word|wd|phrase)|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization)[\w-]{0,40}\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)([^\s"'&,;\\}]{4,})/gi;

export const REDACTED = '[redacted]';

/** Replaces everything that looks like a secret. */
export function redactText(text: string): string {
  let redacted = text;
  for (const pattern of SECRET_PATTERNS) redacted = redacted.replace(pattern, REDACTED);
  return redacted.replace(SECRET_ASSIGNMENT, (_, name: string) => name + REDACTED);
}

/** Redacts all texts in a JSON value, and all members with a secret name. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 100) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      redactText(key),
      SECRET_NAME.test(key) && member !== null && typeof member !== 'boolean'
        ? REDACTED
        : redactValue(member, depth + 1),
    ]),
  );
}

/** Removes the user, the query and the fragment of a URI, which may contain secrets. */
export function redactUri(uri: string): string {
  const plain = uri.replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)[^/@]*@/, '$1');
  const end = plain.search(/[?#]/);
  return redactText(end < 0 ? plain : `${plain.slice(0, end)}${plain[end] ?? ''}…`);
}
