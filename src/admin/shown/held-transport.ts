import type { CliConfig, TransportConfig } from '../../config/config.ts';
import { HIDDEN, isSecretName, maskedArgs, maskedText, maskedValue } from '../../config/masked.ts';
import type { JsonObject } from '../../model/json.ts';
import { secretSearch } from '../../observe/secret-formats.ts';

type Values = Readonly<Record<string, string>>;

/** How a server would be run or reached, for whoever decides about it: everything but secrets, and which those are. */
export function heldTransport(transport: TransportConfig): JsonObject {
  const search = secretSearch();
  const hidden: string[] = [];
  const noted = (where: string, written: string, masked: string): string => {
    const shown = search.mask(masked, HIDDEN);
    if (shown.includes(HIDDEN)) hidden.push(`${where}${SEVERAL.test(written) ? ' (of several words)' : ''}`);
    return shown;
  };
  const text = (where: string, value: string): string => noted(where, value, maskedText(value));
  const list = (where: string, values: readonly string[]): readonly string[] =>
    maskedArgs(values).map((masked, at) => noted(`${where}[${at}]`, values[at] ?? '', masked));
  const named = (where: string, values: Values): Values =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const masked = isSecretName(name) ? maskedValue(value) : maskedText(value);
        return [name, noted(`${where}.${name}`, value, masked)];
      }),
    );
  const shown = shownWith(transport, { text, list, named });
  return hidden.length === 0 ? shown : { notShown: remark(hidden), ...shown };
}

/** A secret is one word; what has several may be something else. */
const SEVERAL = /(?<!^(?:Bearer|Basic|Token))\s|[;|<>`]|&&/i;

interface Masks {
  readonly text: (where: string, value: string) => string;
  readonly list: (where: string, values: readonly string[]) => readonly string[];
  readonly named: (where: string, values: Values) => Values;
}

function shownWith(transport: TransportConfig, { text, list, named }: Masks): JsonObject {
  const { kind } = transport;
  if (kind === 'http') {
    const { url, flavour, headers } = transport;
    return { kind, url: text('url', url), flavour, headers: named('headers', headers) };
  }
  const { command, args, env, envFile, cwd } = transport;
  const presets = (tools: CliConfig['tools']) =>
    tools.map((tool) => ({ ...tool, args: list(`cli.tools.${tool.name}.args`, tool.args) }));
  return {
    ...{ kind, command: text('command', command), args: list('args', args) },
    ...(cwd !== undefined && { cwd }),
    ...(envFile !== undefined && { envFile }),
    ...(kind === 'cli' && { cli: { ...transport.cli, tools: presets(transport.cli.tools) } }),
    // Last, so that however many variables there are, nothing else is cut off.
    env: named('env', env),
  };
}

const MAX_NAMED = 30;

function remark(hidden: readonly string[]): string {
  const [it, looks, is] = hidden.length === 1 ? ['a value', 'looks', 'is'] : ['values', 'look', 'are'];
  const more = hidden.length > MAX_NAMED ? ` and ${hidden.length - MAX_NAMED} more` : '';
  const names = hidden.slice(0, MAX_NAMED).join(', ') + more;
  return `${HIDDEN} stands for ${it} that ${looks} like a secret and ${is} set all the same: ${names}. To see what ${hidden.length === 1 ? 'it says' : 'they say'}, look into the configuration file.`;
}
