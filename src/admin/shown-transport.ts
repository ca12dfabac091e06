import type { TransportConfig } from '../config/config.ts';
import { parseReferences } from '../config/references.ts';
import type { AdminTransport } from './contract.ts';

const HIDDEN = '•••';
const SCHEME = /^(?:Bearer|Basic|Token) $/i;
const SECRET_NAME = /key|token|secret|passw|pwd|auth|credential|cookie/i;

/** How a server is reached, without anything that may be a secret: references are shown, values are not. */
export function shownTransport(transport: TransportConfig): AdminTransport {
  if (transport.kind === 'http') {
    const { url, flavour, headers } = transport;
    return { kind: 'http', url: shownUrl(url), flavour, headers: shownValues(headers) };
  }
  const { kind, command, args, env, cwd } = transport;
  return {
    kind,
    command,
    args: shownArgs(args),
    env: shownValues(env),
    ...(cwd !== undefined && { cwd }),
  };
}

function shownValues(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shownValue(value)]));
}

/** References and the words that announce a credential stay. */
function shownValue(value: string): string {
  return parseReferences(value)
    .map((part) => {
      if (typeof part === 'string') return SCHEME.test(part) ? part : HIDDEN;
      if (part.from === 'malformed') return HIDDEN;
      return `\${${part.from}:${part.name}}`;
    })
    .join('');
}

/** Arguments are seen by everybody on the machine anyway, but what follows the name of a secret is not repeated. */
function shownArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => {
    const before = args[at - 1] ?? '';
    if (before.startsWith('-') && !before.includes('=') && SECRET_NAME.test(before) && !arg.startsWith('-'))
      return shownValue(arg);
    const [, flag, value] = /^(-{0,2}[\w.-]+=)(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && value !== undefined && SECRET_NAME.test(flag)) return flag + shownValue(value);
    return /^https?:/i.test(arg) ? shownUrl(arg) : arg;
  });
}

function shownUrl(text: string): string {
  const withoutUser = text.replace(/^(\w+:\/\/)[^/@?#]*@/, `$1${HIDDEN}@`);
  return withoutUser.replaceAll(
    /([?&]([^=&#]+)=)([^&#]*)/g,
    (whole, start: string, name: string, value: string) =>
      SECRET_NAME.test(name) ? start + shownValue(value) : whole,
  );
}
