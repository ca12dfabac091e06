import type { AdminExplanation } from '../../admin/contract/contract.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';

type Verdict = 'ready' | 'not yet' | 'blocked' | 'unknown';

interface Readiness {
  readonly name: string;
  readonly verdict: Verdict;
  readonly server: string | undefined;
  readonly reason: string;
}

/** The exit codes. A worse verdict has a higher code. */
const EXIT_CODES: Readonly<Record<Verdict, ExitCode>> = { ready: 0, 'not yet': 10, blocked: 11, unknown: 12 };

/** Checks whether tools can be called now, without starting anything. The worst result decides the exit code. */
export function runPreflight(
  options: GlobalOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    const [servers, ...explained] = await Promise.all([
      gateway.client.request('GET /api/servers', {}, gateway),
      ...names.map((name) => gateway.client.request('GET /api/explain', { name }, gateway)),
    ]);
    // A server that the gateway retries may become ready by itself. Other problems need a user.
    const retrying = servers.filter(({ problem }) => problem?.retryAt !== undefined).map(({ name }) => name);
    const all = explained.map((found) => toReadiness(found, retrying));
    if (out.style.format === 'json') out.json(all);
    else
      out.table(
        all.map(({ name, verdict, reason }) => [
          { text: name, paint: out.paint.bold },
          { text: verdict, paint: selectVerdictPaint(verdict, out.paint) },
          toOneLine(reason),
        ]),
        { lastColumn: 'wrap', hasNameColumn: true },
      );
    return all
      .map(({ verdict }) => EXIT_CODES[verdict])
      .reduce((worst, each) => (each > worst ? each : worst), 0);
  });
}

function toReadiness(
  { name, verdict, kind, server, reasons, near }: AdminExplanation,
  retrying: readonly string[],
): Readiness {
  const about = { name, server };
  const [reason = ''] = reasons;
  const isKnown = verdict === 'usable' || verdict === 'unlisted';
  if (isKnown && kind !== undefined && kind !== 'tool')
    return { ...about, verdict: 'unknown', reason: `This is a ${kind}, not a tool.` };
  switch (verdict) {
    case 'usable':
      return { ...about, verdict: 'ready', reason };
    case 'unlisted':
      return { ...about, verdict: 'not yet', reason };
    case 'unreachable':
      return { ...about, verdict: retrying.includes(server ?? '') ? 'not yet' : 'blocked', reason };
    case 'held':
    case 'hidden':
    case 'disabled':
      return { ...about, verdict: 'blocked', reason };
    default: {
      const hint = near.length === 0 ? '' : ` Did you mean ${near.join(', ')}?`;
      return { ...about, verdict: 'unknown', reason: reason + hint };
    }
  }
}

function selectVerdictPaint(verdict: Verdict, paint: CliContext['out']['paint']): (text: string) => string {
  if (verdict === 'ready') return paint.green;
  return verdict === 'not yet' ? paint.yellow : paint.red;
}
