import type { TransportConfig } from '../config/config.ts';
import { SECRET_MASK, isSecretName, maskText } from '../config/mask-secrets.ts';
import { parseReferences } from '../config/resolve-references.ts';
import type { ResolvedTransport } from '../config/resolve-transport.ts';

/** Returns the values of a server's transport that must be masked: resolved references, headers, and values with a secret-like name. */
export function listSecretValues(
  configured: TransportConfig,
  resolved: ResolvedTransport,
): readonly string[] {
  const texts = listFields(configured);
  const secrets = [...listFields(resolved)].flatMap(([field, value]) => {
    const text = texts.get(field);
    // A field that the configuration does not contain comes from an env file, whose values all count as secrets.
    const isReference = text === undefined || parseReferences(text).some((part) => typeof part !== 'string');
    const isSecret = isReference || isSecretName(field) || field.startsWith('headers.');
    return isSecret ? [value, removeScheme(value)] : findSecretParts(value);
  });
  return [...new Set(secrets)];
}

/** Returns the values by field name; the name of an argument is the flag before it. */
function listFields(transport: TransportConfig | ResolvedTransport): ReadonlyMap<string, string> {
  const pairs = (prefix: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  if (transport.kind === 'http')
    return new Map([['url', transport.url], ...pairs('headers', transport.headers)]);
  const { args } = transport;
  const named = args.map((arg, index) => {
    const previous = args[index - 1] ?? '';
    const isFlag = /^--?[\w.-]+$/.test(previous) && !arg.startsWith('-');
    return [`${isFlag ? previous : 'args'} ${index}`, arg] as const;
  });
  return new Map([...named, ...pairs('env', transport.env)]);
}

/** Returns the parts of a value that the displayed configuration masks: values of secret names, headers, and users in URLs. */
function findSecretParts(value: string): readonly string[] {
  return maskedParts(value, maskText(value)).flatMap(({ text, next }) => {
    // Programs also print the password of a URL without the user name, or percent-decoded.
    const password = next.startsWith('@') ? /:(.+)$/s.exec(text)?.[1] : undefined;
    // If the text contains several settings, the name of the secret belongs to the first one.
    const [first = text] = text.split(/[;,&]/);
    return [
      text,
      first,
      removeScheme(text),
      ...(password === undefined ? [] : [password, decodePercent(password)]),
    ];
  });
}

/** Returns the parts of `text` that are replaced by a mask in `masked`, each with the text that follows it. */
function maskedParts(
  text: string,
  masked: string,
): readonly { readonly text: string; readonly next: string }[] {
  const [first = '', ...pieces] = masked.split(SECRET_MASK);
  let start = first.length;
  return pieces.flatMap((next, index) => {
    const isLast = index === pieces.length - 1;
    const end = isLast ? text.length - next.length : text.indexOf(next, start + 1);
    if (end <= start) return [];
    const part = text.slice(start, end);
    start = end + next.length;
    return [{ text: part, next }];
  });
}

function decodePercent(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // A literal percent sign.
  }
}

function removeScheme(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token)\s+/i, '');
}
