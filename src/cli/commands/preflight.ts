import type { AdminExplanation } from '../../admin/contract/contract.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';

type Verdict = 'ready' | 'not yet' | 'blocked' | 'unknown';

interface Readiness {
  readonly name: string;
  readonly verdict: Verdict;
  readonly server?: string;
  readonly reason: string;
}

const EXIT: Readonly<Record<Verdict, ExitCode>> = { ready: 0, 'not yet': 10, blocked: 11, unknown: 12 };

/** Whether tools could be called now, as far as is known without starting anything; the worst makes the exit code. */
export function preflight(
  options: GlobalOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const [servers, ...explained] = await Promise.all([
      line.client.ask('GET /api/servers', {}, line),
      ...names.map((name) => line.client.ask('GET /api/explain', { name }, line)),
    ]);
    // What comes back by itself is worth waiting for; everything else needs a person.
    const waiting = servers.filter(({ problem }) => problem?.retryAt !== undefined).map(({ name }) => name);
    const all = explained.map((found) => readinessOf(found, waiting));
    if (out.style.format === 'json') out.json(all);
    else
      out.table(
        all.map(({ name, verdict, reason }) => [
          { text: name, paint: out.paint.bold },
          { text: verdict, paint: paintOf(verdict, out.paint) },
          inOneLine(reason),
        ]),
        { last: 'wrap', isNamed: true },
      );
    return all.map(({ verdict }) => EXIT[verdict]).reduce((worst, each) => (each > worst ? each : worst), 0);
  });
}

function readinessOf(
  { name, verdict, kind, server, reasons, near }: AdminExplanation,
  waiting: readonly string[],
): Readiness {
  const about = { name, ...(server !== undefined && { server }) };
  const [reason = ''] = reasons;
  const isKnown = verdict === 'usable' || verdict === 'unlisted';
  if (isKnown && kind !== undefined && kind !== 'tool')
    return { ...about, verdict: 'unknown', reason: `It is a ${kind}, not a tool.` };
  switch (verdict) {
    case 'usable':
      return { ...about, verdict: 'ready', reason };
    case 'unlisted':
      return { ...about, verdict: 'not yet', reason };
    case 'unreachable':
      return { ...about, verdict: waiting.includes(server ?? '') ? 'not yet' : 'blocked', reason };
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

function paintOf(verdict: Verdict, paint: CliContext['out']['paint']): (text: string) => string {
  if (verdict === 'ready') return paint.green;
  return verdict === 'not yet' ? paint.yellow : paint.red;
}
