import type { AdminServer } from '../../admin/contract/contract.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { onLine } from '../line/on-line.ts';
import type { Work } from '../line/on-line.ts';

interface Listed<Shown> {
  /** What is listed, in the plural. */
  readonly title: string;
  readonly ask: (line: Work, asked: { readonly server?: string }) => Promise<Shown>;
  /** For people. */
  readonly print: (shown: Shown) => void;
}

/** Lists entries of all servers, or of one; what is missing is told beside them. */
export function listEntries<Shown>(
  options: AdHocOptions,
  { context, words }: { readonly context: CliContext; readonly words: readonly string[] },
  { title, ask, print }: Listed<Shown>,
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const asked = chosenServer(line, words);
    const shown = await out.during(`Listing ${title}`, () => ask(line, asked));
    await tellMissing(line, asked, context);
    if (out.style.format === 'json') out.json(shown);
    else print(shown);
    return 0;
  });
}

/** What a list of entries asks for: everything, or what one server has. */
function chosenServer(line: Work, [server]: readonly string[]): { server?: string } {
  if (line.only !== undefined && server !== undefined)
    throw new GatewayError(
      'USAGE',
      `With --url or a command after -- there is that server alone; leave "${server.slice(0, 60)}" out.`,
    );
  const name = line.only ?? server;
  return name === undefined ? {} : { server: name };
}

/** Says which servers a list lacks, and why; when all that was asked for lacks, that is the error. */
export async function tellMissing(
  line: Work,
  asked: { readonly server?: string },
  context: CliContext,
): Promise<void> {
  const { servers, warnings } = await line.client.ask('GET /api/status', {}, line);
  tellWarnings(warnings, context);
  const wanted = servers.filter(({ name }) => asked.server === undefined || name === asked.server);
  const missing = wanted.flatMap((server) => {
    const problem = problemOf(server);
    return problem === undefined ? [] : [problem];
  });
  if (servers.length === 0 && warnings.length === 0 && context.out.style.format === 'text')
    context.out.note(noServers(line.config));
  const [first] = missing;
  if (first !== undefined && missing.length === wanted.length && asked.server !== undefined) throw first;
  for (const { code, message, details } of missing)
    context.out.problem(new GatewayError(code, `Left out here: ${message}`, { details }));
}

/** What a person needs to read before the first server. */
export function noServers(config: string): string {
  return `No servers are configured in ${config}
Take over those of other clients with: trunkline init
Add one with: trunkline add NAME -- COMMAND, or: trunkline add NAME --url URL`;
}

/** Entries of the configuration that are left out, or not as the person may think. */
export function tellWarnings(warnings: readonly string[], { out }: CliContext): void {
  for (const warning of warnings) out.problem(new GatewayError('CONFIG_INVALID', warning));
}

/** Why nothing is known of what a server offers; undefined when something is. */
function problemOf({ name, problem, listedAt, enabled }: AdminServer): GatewayError | undefined {
  if (!enabled || listedAt !== undefined) return undefined;
  const details = { server: name };
  if (problem !== undefined) return new GatewayError(problem.code, problem.message, { details });
  const message = `Server "${name}" has not said yet what it offers; wait for it with: trunkline refresh ${shellWord(name)}`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', message, { details });
}

/** "1 tool", "2 tools". */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
