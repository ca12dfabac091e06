import type { ExitCode } from '../../core/errors.ts';
import type { ToolStats } from '../../observability/audit/tool-stats.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { formatTime } from '../format-time.ts';

interface StatsOptions extends GlobalOptions {
  readonly server?: string;
  readonly limit?: number;
}

/** Prints statistics of the calls of each tool, the most called first. */
export function runStats(
  options: StatsOptions,
  context: CliContext,
  [tool]: readonly string[],
): Promise<ExitCode> {
  const { server, limit, config } = options;
  return withGateway(
    { config },
    context,
    async (gateway) => {
      const { out } = context;
      const filter = { server, tool };
      const all = (await gateway.client.request('GET /api/stats', filter, gateway)).slice(0, limit);
      if (out.style.format === 'json') out.json(all);
      else if (all.length === 0)
        out.line(
          Object.keys(filter).length === 0
            ? 'No tool has been called yet.'
            : 'No call matches these filters.',
        );
      else printStats(all, context);
      return 0;
    },
    { gateway: 'any' },
  );
}

/** Formats a time with two significant digits, because the histogram that it comes from is not more precise. */
function formatEstimate(ms: number): string {
  return `~${Number(ms.toPrecision(2))} ms`;
}

function printStats(all: readonly ToolStats[], { out }: CliContext): void {
  const { bold, dim, red } = out.paint;
  const now = Date.now();
  const head = (text: string) => ({ text, paint: dim });
  const rows = [
    ['server', 'name', 'calls', 'errors', 'refused', 'p50', 'p95', 'p99', 'tokens in', 'out', 'last use'].map(
      head,
    ),
    ...all.map((tool) => [
      toOneLine(tool.server),
      { text: toOneLine(tool.entry), paint: bold },
      String(tool.calls),
      { text: String(tool.errors), paint: tool.errors > 0 ? red : dim },
      { text: String(tool.refused), paint: tool.refused > 0 ? out.paint.yellow : dim },
      ...[tool.p50, tool.p95, tool.p99].map((ms) => (ms === undefined ? '–' : formatEstimate(ms))),
      String(tool.tokensIn),
      String(tool.tokensOut),
      { text: formatTime(tool.lastAt, { now, width: out.style.width }), paint: dim },
    ]),
  ];
  // On a narrow terminal, the 95th percentile is the most informative one.
  out.table(rows, { dropOrder: [7, 5, 10, 8, 9, 0, 6, 4], wholeColumns: [10] });
}
