import type { ExitCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { createRegistryEntry } from '../../setup/registry/registry-entry.ts';
import { planEntryUpdate } from '../../setup/registry/plan-entry-update.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { openEditableConfig } from './setup/editable-config.ts';
import { openRegistry } from './setup/confirm-registry-entry.ts';

interface RegistrySearchOptions extends GlobalOptions {
  readonly registry?: string;
  readonly limit?: number;
}

export async function runRegistrySearch(
  options: RegistrySearchOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const registry = openRegistry(options, context);
  const found = await out.withProgress('Searching the registry', () =>
    registry.search(words.join(' '), options.limit ?? 20),
  );
  const own = await readConfiguredServers(options.config, context);
  const results = found.map((server) => {
    const registryEntry = createRegistryEntry(server);
    const configured = own.flatMap((each) =>
      each.registry === server.name ? [each.describe(registryEntry)] : [],
    );
    const { name, description, version, status, repository } = server;
    const usage =
      'problem' in registryEntry
        ? { problem: registryEntry.problem }
        : { entry: registryEntry.entry, needs: registryEntry.needs, takes: registryEntry.takes };
    return {
      name,
      description,
      version,
      status,
      repository,
      configured: configured.length > 0 ? configured : undefined,
      ...usage,
    };
  });
  if (out.style.format === 'json') {
    out.json(results);
    return 0;
  }
  const { bold, dim } = out.paint;
  if (results.length === 0)
    out.line('No servers found. The registry searches only names, so try a single word.');
  else {
    const rows = results.map(({ name, version, description, configured = [] }) => [
      { text: name, paint: bold },
      [
        version,
        ...configured.map((each) => `(${[each.server, each.version].filter(Boolean).join(': ')})`),
      ].join(' '),
      toOneLine(description),
    ]);
    out.table([['server', 'version', 'description'].map((text) => ({ text, paint: dim })), ...rows], {
      hasNameColumn: true,
      hasHeader: true,
    });
    out.line(`\n${formatCount(results.length, 'server')}. Add one with: trunkline add --from-registry NAME`);
    if (results.some(isOutdated)) out.line('Update your servers with: trunkline registry update');
  }
  return 0;
}

interface ConfiguredServer {
  readonly registry: string;
  /** Returns the configured name, and the configured version if the entry contains it. */
  describe(registryEntry: ReturnType<typeof createRegistryEntry>): {
    readonly server: string;
    readonly version?: string | undefined;
  };
}

/** Returns the configured servers that came from the registry. An invalid configuration does not fail the search. */
async function readConfiguredServers(
  flag: string | undefined,
  context: CliContext,
): Promise<readonly ConfiguredServer[]> {
  try {
    const { document } = await openEditableConfig(flag, context);
    return [...document.servers].flatMap(([server, entry]) => {
      const registry = isJsonObject(entry) ? entry['registry'] : undefined;
      if (!isJsonObject(entry) || typeof registry !== 'string') return [];
      const describe: ConfiguredServer['describe'] = (registryEntry) => {
        const update = 'problem' in registryEntry ? registryEntry : planEntryUpdate(entry, registryEntry);
        const version = 'problem' in update ? undefined : update.version;
        return { server, version };
      };
      return [{ registry, describe }];
    });
  } catch {
    return []; // Commands that use the configuration report what is wrong with it.
  }
}

function isOutdated({
  version,
  configured = [],
}: {
  readonly version: string;
  readonly configured?: readonly { readonly version?: string | undefined }[] | undefined;
}): boolean {
  return configured.some((each) => each.version !== undefined && each.version !== version);
}
