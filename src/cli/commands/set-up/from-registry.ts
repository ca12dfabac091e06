import { strings } from '../../../import/foreign-entry.ts';
import { OFFICIAL_REGISTRY, Registry } from '../../../registry/registry.ts';
import { registryEntry } from '../../../registry/registry-entry.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import { inOneLine } from '../../harmless.ts';
import { askAtTerminal } from './ask.ts';

export interface RegistryFlags {
  readonly registry?: string;
  readonly yes?: boolean;
}

/** The registry that a command uses; Ctrl-C ends what it asks. */
export function chosenRegistry({ registry }: RegistryFlags, context: CliContext): Registry {
  const stopping = new AbortController();
  context.onStopSignal(() => stopping.abort());
  return new Registry(registry ?? OFFICIAL_REGISTRY, { fetch, signal: stopping.signal });
}

/** What the registry says is written for a server; a person sees what would be run before it is. */
export async function fromRegistryEntry(
  name: string,
  flags: RegistryFlags,
  context: CliContext,
): Promise<{ readonly name: string; readonly entry: JsonObject; readonly notes: readonly string[] }> {
  const { out } = context;
  const registry = chosenRegistry(flags, context);
  const server = await out.during('Asking the registry', () => registry.server(name));
  const made = registryEntry(server);
  if ('problem' in made)
    throw new GatewayError('UPSTREAM_REFUSED', `${name} of the registry cannot be added: ${made.problem}.`);
  const { entry, needs, takes } = made;
  out.note(`${server.name} ${server.version}: ${inOneLine(server.description)}`);
  if (server.status !== 'active') out.note(`The registry calls it ${server.status}.`);
  if (server.repository !== undefined) out.note(`Its source is at ${server.repository}`);
  out.note(`It is reached by: ${reached(entry)}`);
  {
    using ask = flags.yes === true ? undefined : askAtTerminal(context);
    if (ask !== undefined && !(await ask.confirm('Add it?')))
      throw new GatewayError('CALL_CANCELLED', 'Nothing was added.');
  }
  const about = (each: (typeof needs)[number]): string =>
    `  ${each.name}  ${inOneLine(each.description)}`.trimEnd();
  return {
    name: server.name.split('/').at(-1) ?? server.name,
    entry,
    notes: [
      ...(needs.length === 0 ? [] : ['Set these where Trunkline is started:', ...needs.map(about)]),
      ...(takes.length === 0 ? [] : ['It also takes these:', ...takes.map(about)]),
    ],
  };
}

function reached({ url, command, args }: JsonObject): string {
  if (typeof url === 'string') return url;
  return [...strings([command]), ...strings(args)].map(shellWord).join(' ');
}
