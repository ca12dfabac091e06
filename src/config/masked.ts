import { parseReferences } from './references.ts';

/** What stands where a value is not shown. */
export const HIDDEN = '•••';

const SCHEME = /^(?:Bearer|Basic|Token) $/i;
const SECRET_NAME = /key|token|secret|passw|pwd|auth|credential|cookie/i;

/** Whether what goes by this name is probably a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** References and the words that announce a credential stay. */
export function maskedValue(value: string): string {
  return parseReferences(value)
    .map((part) => {
      if (typeof part === 'string') return SCHEME.test(part) ? part : HIDDEN;
      if (part.from === 'malformed') return HIDDEN;
      return `\${${part.from}:${part.name}}`;
    })
    .join('');
}

export function maskedValues(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskedValue(value)]));
}

/** Arguments are seen by everybody on the machine anyway, but what follows the name of a secret is not repeated. */
export function maskedArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    const before = args[at - 1] ?? '';
    if (before.startsWith('-') && !before.includes('=') && isSecretName(before) && !arg.startsWith('-'))
      return maskedValue(arg);
    const [, flag, value] = /^(-{0,2}[\w.-]+=)(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && value !== undefined && isSecretName(flag)) return flag + maskedValue(value);
    return /^https?:/i.test(arg) ? maskedUrl(arg) : arg;
  });
}

export function maskedUrl(text: string): string {
  const withoutUser = text.replace(/^(\w+:\/\/)[^/@?#]*@/, `$1${HIDDEN}@`);
  return withoutUser.replaceAll(
    /([?&]([^=&#]+)=)([^&#]*)/g,
    (whole, start: string, name: string, value: string) =>
      isSecretName(name) ? start + maskedValue(value) : whole,
  );
}
