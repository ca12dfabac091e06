import type { TransportConfig } from '../config/config.ts';
import { HIDDEN, isSecretName, maskedText } from '../config/masked.ts';
import { parseReferences } from '../config/references.ts';
import type { RevealedTransport } from '../config/references.ts';

/** What must not be seen of a server where people look: what references stood for, and what goes by the name of a secret. */
export function secretValues(written: TransportConfig, revealed: RevealedTransport): readonly string[] {
  const [texts, values] = [fieldsOf(written), fieldsOf(revealed)];
  const secrets = [...values].flatMap(([field, value]) => {
    const text = texts.get(field);
    // What is in none of the texts came from a file of variables.
    const isReferred = text === undefined || parseReferences(text).some((part) => typeof part !== 'string');
    const isSecret = isReferred || isSecretName(field) || field.startsWith('headers.');
    return isSecret ? [value, withoutScheme(value)] : partsOf(value);
  });
  return [...new Set(secrets)];
}

/** By the name that says what a value is: of arguments the flag before them. */
function fieldsOf(transport: TransportConfig | RevealedTransport): ReadonlyMap<string, string> {
  const pairs = (prefix: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value] as const);
  if (transport.kind === 'http')
    return new Map([['url', transport.url], ...pairs('headers', transport.headers)]);
  const { args } = transport;
  const named = args.map((arg, at) => {
    const before = args[at - 1] ?? '';
    const isFlag = /^--?[\w.-]+$/.test(before) && !arg.startsWith('-');
    return [`${isFlag ? before : 'args'} ${at}`, arg] as const;
  });
  return new Map([...named, ...pairs('env', transport.env)]);
}

/** Whatever is hidden where the configuration is shown: behind names of secrets, in headers, and the users of addresses. */
function partsOf(value: string): readonly string[] {
  return hiddenIn(value, maskedText(value)).flatMap(({ text, before }) => {
    // Programs write the password of an address alone, and as they read it.
    const password = before.startsWith('@') ? /:(.+)$/s.exec(text)?.[1] : undefined;
    // Of several settings in one text the first is the one with the name.
    const [first = text] = text.split(/[;,&]/);
    return [
      text,
      first,
      withoutScheme(text),
      ...(password === undefined ? [] : [password, decoded(password)]),
    ];
  });
}

/** What stands in `text` where `masked` has the sign that something is hidden, and what follows it there. */
function hiddenIn(
  text: string,
  masked: string,
): readonly { readonly text: string; readonly before: string }[] {
  const [first = '', ...pieces] = masked.split(HIDDEN);
  let at = first.length;
  return pieces.flatMap((before, number) => {
    const isLast = number === pieces.length - 1;
    const end = isLast ? text.length - before.length : text.indexOf(before, at + 1);
    if (end <= at) return [];
    const hidden = text.slice(at, end);
    at = end + before.length;
    return [{ text: hidden, before }];
  });
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // A sign of percent that stands for itself.
  }
}

function withoutScheme(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token)\s+/i, '');
}
