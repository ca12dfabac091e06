import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import { registryEntry } from '../../registry/registry-entry.ts';
import { renewedEntry } from '../../registry/renewed-entry.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { counted } from './listing.ts';
import { configChange } from './set-up/config-change.ts';
import { chosenRegistry } from './set-up/from-registry.ts';

interface RegistrySearchOptions extends GlobalOptions {
  readonly registry?: string;
  readonly limit?: number;
}

export async function registrySearch(
  options: RegistrySearchOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const registry = chosenRegistry(options, context);
  const found = await out.during('Asking the registry', () =>
    registry.search(words.join(' '), options.limit ?? 20),
  );
  const own = await ownServers(options.config, context);
  const shown = found.map((server) => {
    const made = registryEntry(server);
    const configured = own.flatMap((each) => (each.registry === server.name ? [each.as(made)] : []));
    const { name, description, version, status, repository } = server;
    const how =
      'problem' in made
        ? { problem: made.problem }
        : { entry: made.entry, needs: made.needs, takes: made.takes };
    return {
      ...{ name, description, version, status },
      ...(repository !== undefined && { repository }),
      ...(configured.length > 0 && { configured }),
      ...how,
    };
  });
  if (out.style.format === 'json') {
    out.json(shown);
    return 0;
  }
  const { bold, dim } = out.paint;
  if (shown.length === 0) out.line('No servers found. The registry searches names only: try one word.');
  else {
    const rows = shown.map(({ name, version, description, configured = [] }) => [
      { text: name, paint: bold },
      [
        version,
        ...configured.map((each) => `(${[each.server, each.version].filter(Boolean).join(': ')})`),
      ].join(' '),
      inOneLine(description),
    ]);
    out.table([['server', 'version', 'what it does'].map((text) => ({ text, paint: dim })), ...rows], {
      isNamed: true,
      hasHead: true,
    });
    out.line(`\n${counted(shown.length, 'server')}. Add one with: trunkline add --from-registry NAME`);
    if (shown.some(isOutdated)) out.line('Bring yours to the newest version with: trunkline registry update');
  }
  return 0;
}

interface OwnServer {
  readonly registry: string;
  /** Under which name it is configured, and in which version, where the entry says that. */
  as(made: ReturnType<typeof registryEntry>): { readonly server: string; readonly version?: string };
}

/** What the configuration has of the registry. Best effort: a search is none of its business. */
async function ownServers(flag: string | undefined, context: CliContext): Promise<readonly OwnServer[]> {
  try {
    const { document } = await configChange(flag, context);
    return [...document.servers].flatMap(([server, entry]) => {
      const registry = isJsonObject(entry) ? entry['registry'] : undefined;
      if (!isJsonObject(entry) || typeof registry !== 'string') return [];
      const as: OwnServer['as'] = (made) => {
        const renewed = 'problem' in made ? made : renewedEntry(entry, made);
        const version = 'problem' in renewed ? undefined : renewed.version;
        return { server, ...(version !== undefined && { version }) };
      };
      return [{ registry, as }];
    });
  } catch {
    return []; // Whoever uses the configuration is told what is wrong with it.
  }
}

function isOutdated({
  version,
  configured = [],
}: {
  readonly version: string;
  readonly configured?: readonly { readonly version?: string }[];
}): boolean {
  return configured.some((each) => each.version !== undefined && each.version !== version);
}
