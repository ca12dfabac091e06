import type { CliConfig, TransportConfig, UpstreamConfig } from '../../config/config.ts';
import { AUTH_TEXT_KEYS } from '../../config/read-upstream-auth.ts';
import { SECRET_MASK, isSecretName, maskArgs, maskText, maskValue } from '../../config/mask-secrets.ts';
import type { JsonObject } from '../../core/json.ts';
import { createSecretSearch } from '../../observability/secret-formats.ts';

type StringMap = Readonly<Record<string, string>>;

/**
 * Returns how a held server would be started or reached, and how it would sign in. Masks secrets, and adds a remark that lists the masked
 * values.
 */
export function presentHeldServer({
  transport,
  auth,
}: Pick<UpstreamConfig, 'transport' | 'auth'>): JsonObject {
  const search = createSecretSearch();
  const masked: string[] = [];
  const mask = (path: string, original: string, text: string): string => {
    const result = search.mask(text, SECRET_MASK);
    if (result.includes(SECRET_MASK))
      masked.push(`${path}${SEVERAL_WORDS.test(original) ? ' (of several words)' : ''}`);
    return result;
  };
  const masks: Masks = {
    text: (path, value) => mask(path, value, maskText(value)),
    list: (path, values) =>
      maskArgs(values).map((text, index) => mask(`${path}[${index}]`, values[index] ?? '', text)),
    map: (path, values) =>
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => {
          const text = isSecretName(name) ? maskValue(value) : maskText(value);
          return [name, mask(`${path}.${name}`, value, text)];
        }),
      ),
  };
  const shown = { ...maskTransport(transport, masks), ...maskAuth(auth, masks) };
  return masked.length === 0 ? shown : { notShown: describeMasked(masked), ...shown };
}

/** Matches values with spaces or shell operators. A secret is usually a single word, so such a value may be a command instead. */
const SEVERAL_WORDS = /(?<!^(?:Bearer|Basic|Token))\s|[;|<>`]|&&/i;

interface Masks {
  readonly text: (path: string, value: string) => string;
  readonly list: (path: string, values: readonly string[]) => readonly string[];
  readonly map: (path: string, values: StringMap) => StringMap;
}

function maskTransport(transport: TransportConfig, { text, list, map }: Masks): JsonObject {
  const { kind } = transport;
  if (kind === 'http') {
    const { url, flavour, headers, headersHelper: helper } = transport;
    const shownHelper =
      typeof helper === 'string' ? text('headersHelper', helper) : helper && list('headersHelper', helper);
    return {
      kind,
      url: text('url', url),
      flavour,
      ...(shownHelper !== undefined && { headersHelper: shownHelper }),
      headers: map('headers', headers),
    };
  }
  const { command, args, env, envFile, cwd } = transport;
  const maskTools = (tools: CliConfig['tools']) =>
    tools.map((tool) => ({ ...tool, args: list(`cli.tools.${tool.name}.args`, tool.args) }));
  return {
    kind,
    command: text('command', command),
    args: list('args', args),
    cwd,
    envFile,
    cli: kind === 'cli' ? { ...transport.cli, tools: maskTools(transport.cli.tools) } : undefined,
    // The environment comes last, so that many variables cannot push anything else out of a truncated output.
    env: map('env', env),
  };
}

/** Returns the texts of the sign-in settings, which may refer to secrets and run programs. */
function maskAuth(auth: UpstreamConfig['auth'], { map }: Masks): JsonObject {
  const texts = AUTH_TEXT_KEYS.flatMap((key) => {
    const text = auth?.[key];
    return text === undefined ? [] : [[key, text] as const];
  });
  return texts.length === 0 ? {} : { auth: map('auth', Object.fromEntries(texts)) };
}

const MAX_LISTED = 30;

function describeMasked(paths: readonly string[]): string {
  const more = paths.length > MAX_LISTED ? ` and ${paths.length - MAX_LISTED} more` : '';
  const list = paths.slice(0, MAX_LISTED).join(', ') + more;
  const subject =
    paths.length === 1
      ? 'a value that looks like a secret, but the server still receives it'
      : 'values that look like secrets, but the server still receives them';
  return `${SECRET_MASK} hides ${subject}: ${list}. To see ${paths.length === 1 ? 'it' : 'them'}, open the configuration file.`;
}
