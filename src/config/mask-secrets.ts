import { parseReferences } from './resolve-references.ts';

/** Replaces a secret wherever a configuration is displayed. */
export const SECRET_MASK = '•••';

const SCHEME = /^(?:Bearer|Basic|Token) $/i;
const SECRET_NAME = /key|token|secret|passw|pwd|auth|credential|cookie/i;

/** Whether a value with this name is probably a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Masks a value, but keeps its references and an authentication scheme such as `Bearer`. */
export function maskValue(value: string): string {
  return parseReferences(value)
    .map((part) => {
      if (typeof part === 'string') return SCHEME.test(part) ? part : SECRET_MASK;
      if (part.from === 'malformed') return SECRET_MASK;
      const { from, name, fallback = '' } = part;
      if (from === 'cmd') return `\${cmd:${maskCommandLine(name)}}`;
      return `\${${from}:${name}${fallback === '' ? '' : `:-${SECRET_MASK}`}}`;
    })
    .join('');
}

function maskCommandLine(words: string): string {
  return JSON.stringify(maskArgs(JSON.parse(words) as readonly string[])); // The reference was parsed, so it is a list of texts.
}

export function maskValues(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskValue(value)]));
}

/** Masks secrets in the arguments of a program. All users of the machine can see the arguments, but logs need not repeat them. */
export function maskArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    const previous = args[at - 1] ?? '';
    const isSecret = previous.startsWith('-') && !previous.includes('=') && isSecretName(previous);
    return isSecret && !arg.startsWith('-') ? maskValue(arg) : maskText(arg);
  });
}

/** Secrets occur as `--token=…`, as a header, or as a JSON member. Headers and members may also follow `flag=`. */
const FLAG = /^(-{0,2}[\w.-]+=)(.*)$/s;
const HEADER = /^((?:-{0,2}[\w.]+=)?["']?([\w-]+):(?!\/\/)\s*)(.+)$/s;
const MEMBER = /((["'])([\w.-]+)\2\s*:\s*)("[^"]*"?|'[^']*'?)/g;
const PAIR = /((?:^|[\s;,"'])-{0,2}([\w.-]+)=)([^\s;,&"']+)/g;

/** Masks the values of named secrets in a text, and the user part of its URLs. */
export function maskText(text: string): string {
  const [, flag, value] = FLAG.exec(text) ?? [];
  if (flag !== undefined && value !== undefined && isSecretName(flag)) return flag + maskValue(value);
  const [, start, header, content] = HEADER.exec(text) ?? [];
  if (start !== undefined && header !== undefined && content !== undefined && isSecretName(header)) {
    return start + maskValue(content);
  }
  return maskUrl(text)
    .replaceAll(MEMBER, (whole, before: string, _, name: string, quoted: string) => {
      const quote = quoted.charAt(0);
      return isSecretName(name) ? `${before}${quote}${maskValue(quoted.slice(1, -1))}${quote}` : whole;
    })
    .replaceAll(PAIR, maskNamedValue);
}

/** Finds the start of the host as URL parsers do, so that no part of a password is mistaken for the host. */
const WEB_USER = /\b((?:https?|wss?|ftp):[\\/]{2})([^\s/\\?#"']*)@/gi;
const OTHER_USER = /\b((?!(?:https?|wss?|ftp):)[a-z][a-z\d+.-]{0,30}:\/\/)([^\s/"']*)@/gi;
/** Database drivers accept `user:password@tcp(host)`, without a scheme. */
const DRIVER_USER = /(^|[\s="'])([\w.-]+:[^\s/"']*)(?=@(?:tcp|udp|unix)\()/gi;
const PARAMETER = /([?&]([^=?&#\s]+)=)([^&#\s"']*)/g;

/** Masks the user part of all URLs in a text, and the URL parameters whose names suggest a secret. */
export function maskUrl(text: string): string {
  const maskUser = (whole: string, scheme: string, user: string): string =>
    user === 'git' ? whole : `${scheme}${SECRET_MASK}@`;
  return text
    .replaceAll(WEB_USER, maskUser)
    .replaceAll(OTHER_USER, maskUser)
    .replaceAll(DRIVER_USER, (_, before: string) => before + SECRET_MASK)
    .replaceAll(PARAMETER, maskNamedValue);
}

function maskNamedValue(whole: string, start: string, name: string, value: string): string {
  return isSecretName(name) ? start + maskValue(value) : whole;
}
