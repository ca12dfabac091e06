import type { AdminExplanation } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { harmless, inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';

interface WhyOptions extends GlobalOptions {
  readonly client?: string;
}

/** Why a name is as it is. It is an answer whatever it says, except where nobody knows the name. */
export function why(
  options: WhyOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return onLine(
    options,
    context,
    async (line) => {
      const { out } = context;
      const found = await line.client.ask(
        'GET /api/explain',
        { name, ...(options.client !== undefined && { client: options.client }) },
        line,
      );
      const { pausedSince } = await line.client.ask('GET /api/status', {}, line);
      if (out.style.format === 'json') out.json(found);
      else print(found, pausedSince !== undefined, context);
      return found.verdict === 'unknown' ? new GatewayError('ENTRY_NOT_FOUND', name).traits.exit : 0;
    },
    { reach: 'any' },
  );
}

function print(found: AdminExplanation, isPaused: boolean, { out }: CliContext): void {
  const { name, verdict, kind, server, original, reasons, fixes, near } = found;
  const { bold, dim, green, red, yellow } = out.paint;
  const paint = verdict === 'usable' ? green : verdict === 'unlisted' || verdict === 'held' ? yellow : red;
  const shown = isPaused && verdict === 'usable' ? yellow('paused') : paint(verdict);
  out.line(`${bold(inOneLine(name))}  ${shown}`);
  for (const reason of reasons) out.prose(`  ${harmless(reason)}`);
  if (original !== undefined && original !== name && server !== undefined)
    out.prose(
      `  It is the ${kind ?? 'entry'} "${inOneLine(original)}" of "${inOneLine(server)}", renamed so that names of servers do not collide.`,
    );
  if (found.decision !== undefined)
    out.line(dim(`  Policy: ${found.decision.verdict}, by ${inOneLine(found.decision.rule)}.`));
  if (found.forClient !== undefined) {
    const { client, name: shown, says } = found.forClient;
    if (shown !== name) out.line(`  ${client} sees it as ${bold(inOneLine(shown))}.`);
    for (const each of says) out.prose(`  ${harmless(each)}`);
  }
  for (const fix of fixes) out.prose(`  To mend it: ${harmless(fix)}`);
  if (near.length > 0) out.line(`  ${dim('Did you mean:')} ${near.map(inOneLine).join(', ')}`);
}
