import type { AdminServer } from '../../admin/contract/contract.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';

interface ListCommand<Entries> {
  /** The plural name of the listed entries. */
  readonly title: string;
  readonly fetch: (gateway: CommandConnection, filter: { readonly server?: string }) => Promise<Entries>;
  /** Prints the entries as text. */
  readonly print: (entries: Entries) => void;
}

/** Lists entries of all servers, or of one. Reports servers whose entries are missing. */
export function runListCommand<Entries>(
  options: AdHocOptions,
  { context, words }: { readonly context: CliContext; readonly words: readonly string[] },
  { title, fetch, print }: ListCommand<Entries>,
): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    const filter = readServerFilter(gateway, words);
    const entries = await out.withProgress(`Listing ${title}`, () => fetch(gateway, filter));
    await reportMissingServers(gateway, filter, context);
    if (out.style.format === 'json') out.json(entries);
    else await out.paged(() => print(entries));
    return 0;
  });
}

function readServerFilter(gateway: CommandConnection, [server]: readonly string[]): { server?: string } {
  if (gateway.onlyServer !== undefined && server !== undefined)
    throw new GatewayError(
      'USAGE',
      `--url and a command after -- already select the server. Remove the argument "${server.slice(0, 60)}".`,
    );
  const name = gateway.onlyServer ?? server;
  return name === undefined ? {} : { server: name };
}

/** Reports the servers that are missing from a listing, with the reasons. Throws if a single server was requested and is missing. */
export async function reportMissingServers(
  gateway: CommandConnection,
  filter: { readonly server?: string },
  context: CliContext,
): Promise<void> {
  const { servers, warnings } = await gateway.client.request('GET /api/status', {}, gateway);
  reportWarnings(warnings, context);
  const selected = servers.filter(({ name }) => filter.server === undefined || name === filter.server);
  const missing = selected.flatMap((server) => {
    const problem = toListingError(server);
    return problem === undefined ? [] : [problem];
  });
  if (servers.length === 0 && warnings.length === 0 && context.out.style.format === 'text')
    context.out.note(formatNoServersHelp(gateway.config));
  const [first] = missing;
  if (first !== undefined && missing.length === selected.length && filter.server !== undefined) throw first;
  reportLeftOut(missing, context);
}

/** The maximum number of servers that the line about missing servers names. */
const MAX_NAMES = 3;

/** Reports all missing servers in one line. One server is reported with its reason, several with the command that explains them. */
function reportLeftOut(missing: readonly GatewayError[], { out }: CliContext): void {
  const [first] = missing;
  if (first === undefined) return;
  const names = missing.map(({ details }) => String(details['server']));
  const more = names.length > MAX_NAMES ? ' …' : '';
  const text =
    missing.length === 1
      ? `Left out: ${first.message}`
      : `${names.length} servers left out (${names.slice(0, MAX_NAMES).join(', ')}${more}). To see why, run: trunkline doctor`;
  if (!out.style.isJsonRequested) return out.note(text);
  const servers = missing.map(({ code, message, details }) => ({ server: details['server'], code, message }));
  out.problem(new GatewayError(first.code, text, { details: { servers } }));
}

/** Explains how to add the first server. */
export function formatNoServersHelp(config: string): string {
  return `No servers are configured in ${config}
Import the servers of other clients with: trunkline init
Add a server with: trunkline add NAME -- COMMAND, or: trunkline add NAME --url URL`;
}

/** Reports entries of the configuration that are ignored or probably wrong. */
export function reportWarnings(warnings: readonly string[], { out }: CliContext): void {
  for (const warning of warnings) out.problem(new GatewayError('CONFIG_INVALID', warning));
}

/** Returns why the lists of a server were never fetched. Returns undefined if they were fetched, or if the server is disabled. */
function toListingError({ name, state, problem, listedAt, enabled }: AdminServer): GatewayError | undefined {
  if (!enabled || listedAt !== undefined) return undefined;
  const details = { server: name };
  if (problem !== undefined) return new GatewayError(problem.code, problem.message, { details });
  const reason = state === 'installing' ? 'is still being installed' : 'has not sent its lists yet';
  const message = `Server "${name}" ${reason}. Wait for it with: trunkline refresh ${quoteShellWord(name)}`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', message, { details });
}
