import type { AdminExplanation } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';

interface WhyOptions extends GlobalOptions {
  readonly client?: string;
}

/** Explains why a name is hidden, renamed or unreachable. Succeeds unless the name is unknown. */
export function runWhy(
  options: WhyOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return withGateway(
    options,
    context,
    async (gateway) => {
      const { out } = context;
      const found = await gateway.client.request(
        'GET /api/explain',
        { name, client: options.client },
        gateway,
      );
      const { pausedSince } = await gateway.client.request('GET /api/status', {}, gateway);
      if (out.style.format === 'json') out.json(found);
      else printExplanation(found, pausedSince !== undefined, context);
      return found.verdict === 'unknown' ? new GatewayError('ENTRY_NOT_FOUND', name).traits.exit : 0;
    },
    { gateway: 'any' },
  );
}

function printExplanation(found: AdminExplanation, isPaused: boolean, { out }: CliContext): void {
  const { name, verdict, kind, server, original, reasons, fixes, near } = found;
  const { bold, dim, green, red, yellow } = out.paint;
  const paint = verdict === 'usable' ? green : verdict === 'unlisted' || verdict === 'held' ? yellow : red;
  const state = isPaused && verdict === 'usable' ? yellow('paused') : paint(verdict);
  out.line(`${bold(toOneLine(name))}  ${state}`);
  for (const reason of reasons) out.prose(`  ${sanitize(reason)}`);
  if (original !== undefined && original !== name && server !== undefined)
    out.prose(
      `  This is the ${kind ?? 'entry'} "${toOneLine(original)}" of server "${toOneLine(server)}". Trunkline prefixes names, so that those of different servers do not collide.`,
    );
  if (found.decision !== undefined)
    out.line(dim(`  Policy: ${found.decision.verdict}, by ${toOneLine(found.decision.rule)}.`));
  if (found.forClient !== undefined) {
    const { client, name: clientName, says } = found.forClient;
    if (clientName !== name) out.line(`  ${client} sees it as ${bold(toOneLine(clientName))}.`);
    for (const sentence of says) out.prose(`  ${sanitize(sentence)}`);
  }
  for (const fix of fixes) out.prose(`  To fix this: ${sanitize(fix)}`);
  if (near.length > 0) out.line(`  ${dim('Did you mean:')} ${near.map(toOneLine).join(', ')}`);
}
