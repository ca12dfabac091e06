import type { ExitCode } from '../../model/errors.ts';
import { registryEntry } from '../../registry/registry-entry.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { counted } from './listing.ts';
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
  const shown = found.map((server) => {
    const made = registryEntry(server);
    const { name, description, version, status, repository } = server;
    const how =
      'problem' in made
        ? { problem: made.problem }
        : { entry: made.entry, needs: made.needs, takes: made.takes };
    return { name, description, version, status, ...(repository !== undefined && { repository }), ...how };
  });
  if (out.style.format === 'json') {
    out.json(shown);
    return 0;
  }
  const { bold, dim } = out.paint;
  if (shown.length === 0) out.line('No servers found. The registry searches names only: try one word.');
  else {
    const rows = shown.map(({ name, version, description }) => [
      { text: name, paint: bold },
      version,
      inOneLine(description),
    ]);
    out.table([['server', 'version', 'what it does'].map((text) => ({ text, paint: dim })), ...rows]);
    out.line(`\n${counted(shown.length, 'server')}. Add one with: trunkline add --from-registry NAME`);
  }
  return 0;
}
