import { dirname, resolve } from 'node:path';
import { parseDocument, readNodeValue } from '../../config/file/document.ts';
import { trustText } from '../../config/file/config-trust.ts';
import { resolveLocations } from '../../config/find-config.ts';
import { loadConfig, readConfigText } from '../../config/load-config.ts';
import { maskUrl, maskValue, isSecretName } from '../../config/mask-secrets.ts';
import { parseReferences } from '../../config/resolve-references.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { describeEntry, detailsToJson } from './setup/describe-entry.ts';
import type { EntryDetail } from './setup/describe-entry.ts';
import { openTerminalPrompt } from './setup/terminal-prompt.ts';

export interface TrustOptions extends GlobalOptions {
  readonly yes?: boolean;
}

/**
 * Trusts a project configuration, and prints everything that the configuration may run, read and reach. If the command asks for
 * confirmation, it prints this first.
 */
export async function runTrust(
  options: TrustOptions,
  context: CliContext,
  [file = 'trunkline.jsonc']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const path = resolve(context.cwd, file);
  // The file is read once, so that exactly the text that is printed becomes trusted.
  const text = await readConfigText(path);
  const { value } = await loadConfig({ file: path, text, version: context.version });
  const effects = describeEffects(
    path,
    text,
    value.upstreams.map(({ name }) => name),
  );
  const trust = (): Promise<void> => trustText(path, text, resolveLocations(context).stateDir);
  if (out.style.format === 'json') {
    await trust();
    out.json({ trusted: path, ...effectsToJson(effects) });
    return 0;
  }
  using prompt = options.yes === true ? undefined : openTerminalPrompt(context);
  if (prompt !== undefined) {
    out.line(`Once it is trusted, ${path} may start or connect to:`);
    printEffects(effects, context);
    if (!(await prompt.confirm('Trust it in its current version?', false))) {
      out.note('Nothing was changed.');
      return 0;
    }
  }
  await trust();
  out.line(
    `Trusted ${path} in its current version.${prompt === undefined ? ' It may start or connect to:' : ''}`,
  );
  if (prompt === undefined) printEffects(effects, context);
  return 0;
}

/** Everything that a configuration may run, read and reach. */
interface ConfigEffects {
  readonly servers: readonly { readonly name: string; readonly details: readonly EntryDetail[] }[];
  /** Absolute paths of modules that run inside the gateway. */
  readonly guards: readonly string[];
  /** Settings with an address, except those of servers. */
  readonly endpoints: readonly Setting[];
  /** References in the whole file: variables, files and secrets that are read, and programs that print a value. */
  readonly references: readonly Setting[];
}

interface Setting {
  /** Path in the file, such as `telemetry.endpoint`. */
  readonly at: string;
  readonly value: string;
}

function describeEffects(file: string, text: string, servers: readonly string[]): ConfigEffects {
  const parsed = parseDocument(text);
  const value = 'problem' in parsed ? undefined : readNodeValue(parsed.root);
  const root = isJsonObject(value) ? value : {};
  const { mcpServers, guards, ...settings } = root;
  const entries = isJsonObject(mcpServers) ? mcpServers : {};
  return {
    servers: servers.map((name) => {
      const entry = entries[name];
      return { name, details: isJsonObject(entry) ? describeEntry(entry, 'project') : [] };
    }),
    guards: Array.isArray(guards)
      ? guards.flatMap((path) => (typeof path === 'string' ? [resolve(dirname(file), path)] : []))
      : [],
    endpoints: listTexts(settings).filter(isEndpoint).map(maskSetting),
    references: listTexts(root).flatMap(({ at, value: setting }) =>
      parseReferences(setting).flatMap((part) =>
        typeof part === 'string' || part.from === 'malformed'
          ? []
          : [{ at, value: `\${${part.from}:${part.name}}` }],
      ),
    ),
  };
}

/** Returns all texts below a value with their paths. */
function listTexts(value: unknown, at = ''): readonly Setting[] {
  if (typeof value === 'string') return [{ at, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTexts(item, `${at}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    listTexts(member, at === '' ? key : `${at}.${key}`),
  );
}

/** Whether a setting is a URL, or an address without a scheme: one that the gateway listens on or that replicas use. */
function isEndpoint({ at, value }: Setting): boolean {
  return at !== '$schema' && (/^[a-z][\w+.-]*:\/\//i.test(value) || /(?:^|\.)(?:address|listen)$/.test(at));
}

function maskSetting({ at, value }: Setting): Setting {
  return { at, value: isSecretName(at) && !value.includes('://') ? maskValue(value) : maskUrl(value) };
}

function effectsToJson({ servers, guards, endpoints, references }: ConfigEffects): object {
  return {
    servers: servers.map(({ name, details }) => {
      const others = details.filter((detail) => detail !== findReachedBy(details));
      return {
        name,
        reachedBy: findReachedBy(details)?.text ?? '',
        ...detailsToJson(others),
      };
    }),
    guards: guards.length > 0 ? guards : undefined,
    endpoints: endpoints.length > 0 ? endpoints : undefined,
    references: references.length > 0 ? references : undefined,
  };
}

/** Returns the detail that says how the server is reached: its command or its URL. */
function findReachedBy(details: readonly EntryDetail[]): EntryDetail | undefined {
  return details.find(({ label }) => label === 'command') ?? details.find(({ label }) => label === 'url');
}

function printEffects({ servers, guards, endpoints, references }: ConfigEffects, { out }: CliContext): void {
  const { bold, dim } = out.paint;
  const rows = servers.flatMap(({ name, details }) => {
    const reachedBy = findReachedBy(details);
    const others = details.filter((detail) => detail !== reachedBy);
    return [
      [{ text: `  ${name}`, paint: bold }, reachedBy?.text ?? ''],
      ...others.map(({ label, text }) => ['', `${label}: ${text}`]),
    ];
  });
  out.table(rows, { lastColumn: 'wrap' });
  const printSettings = (title: string, settings: readonly Setting[]): void => {
    if (settings.length > 0) out.line(title);
    for (const { at, value } of settings) out.line(`  ${dim(toOneLine(at))}  ${toOneLine(value)}`);
  };
  if (guards.length > 0) out.line('These guards run inside Trunkline and see every call:');
  for (const guard of guards) out.line(`  ${toOneLine(guard)}`);
  printSettings('It may connect to or listen on:', endpoints);
  printSettings('It reads these values, or runs these programs for their output:', references);
}
