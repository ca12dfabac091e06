import type { ExitCode } from '../../model/errors.ts';
import type { ToolStats } from '../../observe/audit/tool-stats.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import { when } from '../when.ts';

interface StatsOptions extends GlobalOptions {
  readonly server?: string;
  readonly limit?: number;
}

/** What became of the calls of each tool, those that are called most first. */
export function stats(
  options: StatsOptions,
  context: CliContext,
  [tool]: readonly string[],
): Promise<ExitCode> {
  const { server, limit, config } = options;
  return onLine(
    { ...(config !== undefined && { config }) },
    context,
    async (line) => {
      const { out } = context;
      const asked = { ...(server !== undefined && { server }), ...(tool !== undefined && { tool }) };
      const all = (await line.client.ask('GET /api/stats', asked, line)).slice(0, limit);
      if (out.style.format === 'json') out.json(all);
      else if (all.length === 0)
        out.line(`Nothing ${Object.keys(asked).length === 0 ? '' : 'of that '}was called yet.`);
      else print(all, context);
      return 0;
    },
    { reach: 'any' },
  );
}

/** Times are counted in buckets, which know no third digit. */
function estimated(ms: number): string {
  return `~${Number(ms.toPrecision(2))} ms`;
}

function print(all: readonly ToolStats[], { out }: CliContext): void {
  const { bold, dim, red } = out.paint;
  const now = Date.now();
  const head = (text: string) => ({ text, paint: dim });
  const rows = [
    ['server', 'name', 'calls', 'errors', 'refused', 'p50', 'p95', 'p99', 'tokens in', 'out', 'last use'].map(
      head,
    ),
    ...all.map((each) => [
      inOneLine(each.server),
      { text: inOneLine(each.entry), paint: bold },
      String(each.calls),
      { text: String(each.errors), paint: each.errors > 0 ? red : dim },
      { text: String(each.refused), paint: each.refused > 0 ? out.paint.yellow : dim },
      ...[each.p50, each.p95, each.p99].map((ms) => (ms === undefined ? '–' : estimated(ms))),
      String(each.tokensIn),
      String(each.tokensOut),
      { text: when(each.lastAt, { now, width: out.style.width }), paint: dim },
    ]),
  ];
  // On a narrow terminal the 95th percentile says most of what the others say.
  out.table(rows, { drop: [7, 5, 10, 8, 9, 0, 6, 4], whole: [10] });
}
