import type { TransportConfig } from '../config/config.ts';
import { isSecretName } from '../config/masked.ts';
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

/** In `--api-key=…`, and in the user, password and parameters of an address. */
function partsOf(value: string): readonly string[] {
  const [, flag, rest] = /^(-{0,2}[\w.-]+)=(.*)$/s.exec(value) ?? [];
  if (flag !== undefined && rest !== undefined && isSecretName(flag)) return [rest];
  if (!/^\w+:\/\//.test(value) || !URL.canParse(value)) return [];
  const { password, searchParams } = new URL(value);
  const named = [...searchParams].flatMap(([name, each]) => (isSecretName(name) ? [each] : []));
  return password === '' ? named : [decodeURIComponent(password), password, ...named];
}

function withoutScheme(value: string): string {
  return value.replace(/^(?:Bearer|Basic|Token)\s+/i, '');
}
