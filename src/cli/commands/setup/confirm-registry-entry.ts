import { toStrings } from '../../../setup/import/entry-reader.ts';
import { OFFICIAL_REGISTRY_URL, RegistryClient } from '../../../setup/registry/registry-client.ts';
import { createRegistryEntry } from '../../../setup/registry/registry-entry.ts';
import type { RegistryServer } from '../../../setup/registry/registry-server.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';
import { openTerminalPrompt } from './terminal-prompt.ts';

export interface RegistryFlags {
  readonly registry?: string;
  readonly yes?: boolean;
}

/** Opens the registry that a command uses. Ctrl-C cancels its requests. */
export function openRegistry({ registry }: RegistryFlags, context: CliContext): RegistryClient {
  const stopping = new AbortController();
  context.onStopSignal(() => stopping.abort());
  return new RegistryClient(registry ?? OFFICIAL_REGISTRY_URL, { fetch, signal: stopping.signal });
}

interface ConfirmedEntry {
  readonly name: string;
  readonly entry: JsonObject;
  readonly notes: readonly string[];
}

/** Looks up a server in the registry, and asks the user to confirm it. */
export async function confirmRegistryEntry(
  name: string,
  flags: RegistryFlags,
  context: CliContext,
): Promise<ConfirmedEntry> {
  const registry = openRegistry(flags, context);
  const server = await context.out.withProgress(`Looking up ${name} in the registry`, () =>
    registry.server(name),
  );
  return confirmRegistryServer(server, flags, context);
}

/** Creates the configuration entry for a server of the registry, prints its command or URL, and asks the user to confirm. */
export async function confirmRegistryServer(
  server: RegistryServer,
  flags: RegistryFlags,
  context: CliContext,
): Promise<ConfirmedEntry> {
  const { out } = context;
  const registryEntry = createRegistryEntry(server);
  if ('problem' in registryEntry)
    throw new GatewayError(
      'UPSTREAM_REFUSED',
      `Server ${server.name} of the registry cannot be added: ${registryEntry.problem}.`,
    );
  const { entry, needs, takes } = registryEntry;
  out.note(`${server.name} ${server.version}: ${toOneLine(server.description)}`);
  if (server.status !== 'active') out.note(`Its status in the registry is "${server.status}".`);
  if (server.repository !== undefined) out.note(`Source code: ${server.repository}`);
  out.note(`Command or URL: ${formatCommandOrUrl(entry)}`);
  {
    using prompt = flags.yes === true ? undefined : openTerminalPrompt(context);
    if (prompt !== undefined && !(await prompt.confirm('Add it?')))
      throw new GatewayError('CALL_CANCELLED', 'Nothing was added.');
  }
  const formatVariable = (variable: (typeof needs)[number]): string =>
    `  ${variable.name}  ${toOneLine(variable.description)}`.trimEnd();
  return {
    name: server.name.split('/').at(-1) ?? server.name,
    entry,
    notes: [
      ...(needs.length === 0
        ? []
        : ['Set these variables in the environment of Trunkline:', ...needs.map(formatVariable)]),
      ...(takes.length === 0 ? [] : ['These variables are optional:', ...takes.map(formatVariable)]),
    ],
  };
}

function formatCommandOrUrl({ url, command, args }: JsonObject): string {
  if (typeof url === 'string') return url;
  return [...toStrings([command]), ...toStrings(args)].map(quoteShellWord).join(' ');
}
