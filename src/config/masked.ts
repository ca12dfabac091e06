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
      const { from, name, fallback = '' } = part;
      return `\${${from}:${name}${fallback === '' ? '' : `:-${HIDDEN}`}}`;
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
    const isNamed = before.startsWith('-') && !before.includes('=') && isSecretName(before);
    return isNamed && !arg.startsWith('-') ? maskedValue(arg) : maskedText(arg);
  });
}

/** As `--token=…`, as a header or a member of JSON, after `flag=` too. */
const FLAG = /^(-{0,2}[\w.-]+=)(.*)$/s;
const HEADER = /^((?:-{0,2}[\w.]+=)?["']?([\w-]+):(?!\/\/)\s*)(.+)$/s;
const MEMBER = /((["'])([\w.-]+)\2\s*:\s*)("[^"]*"?|'[^']*'?)/g;
const PAIR = /((?:^|[\s;,"'])-{0,2}([\w.-]+)=)([^\s;,&"']+)/g;

/** A text without what it says after the name of a secret, and without the users of addresses. */
export function maskedText(text: string): string {
  const [, flag, value] = FLAG.exec(text) ?? [];
  if (flag !== undefined && value !== undefined && isSecretName(flag)) return flag + maskedValue(value);
  const [, start, header, content] = HEADER.exec(text) ?? [];
  if (start !== undefined && header !== undefined && content !== undefined && isSecretName(header))
    return start + maskedValue(content);
  return maskedUrl(text)
    .replaceAll(MEMBER, (whole, before: string, _, name: string, quoted: string) => {
      const quote = quoted.charAt(0);
      return isSecretName(name) ? `${before}${quote}${maskedValue(quoted.slice(1, -1))}${quote}` : whole;
    })
    .replaceAll(PAIR, namedIsMasked);
}

/** Where the host begins is decided as programs decide it, so that no address passes for another. */
const WEB_USER = /\b((?:https?|wss?|ftp):[\\/]{2})([^\s/\\?#"']*)@/gi;
const OTHER_USER = /\b((?!(?:https?|wss?|ftp):)[a-z][a-z\d+.-]{0,30}:\/\/)([^\s/"']*)@/gi;
/** As drivers of databases take it, without a scheme. */
const DRIVER_USER = /(^|[\s="'])([\w.-]+:[^\s/"']*)(?=@(?:tcp|udp|unix)\()/gi;
const PARAMETER = /([?&]([^=?&#\s]+)=)([^&#\s"']*)/g;

/** A text in which addresses of any kind have neither a user nor parameters that are called like secrets. */
export function maskedUrl(text: string): string {
  const withoutUser = (whole: string, scheme: string, user: string): string =>
    user === 'git' ? whole : `${scheme}${HIDDEN}@`;
  return text
    .replaceAll(WEB_USER, withoutUser)
    .replaceAll(OTHER_USER, withoutUser)
    .replaceAll(DRIVER_USER, (_, before: string) => before + HIDDEN)
    .replaceAll(PARAMETER, namedIsMasked);
}

function namedIsMasked(whole: string, start: string, name: string, value: string): string {
  return isSecretName(name) ? start + maskedValue(value) : whole;
}
