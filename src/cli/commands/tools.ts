import type { AdminTool } from '../../admin/contract/contract.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { runListCommand } from './list-command.ts';
import { selectTierPaint } from './select-tier-paint.ts';

export function runTools(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return runListCommand(
    options,
    { context, words },
    {
      title: 'tools',
      fetch: async (gateway, filter) => {
        const listed = await gateway.client.request('GET /api/tools', filter, gateway);
        return gateway.onlyServer === undefined
          ? listed
          : listed.map((tool) => ({ ...tool, name: tool.original }));
      },
      print: (entries) => printTools(entries, context),
    },
  );
}

function printTools(entries: readonly AdminTool[], { out }: CliContext): void {
  out.table(
    entries.map(({ name, tier, description, title }) => [
      { text: name, paint: out.paint.bold },
      { text: tier, paint: selectTierPaint(tier, out.paint) },
      toOneLine(description, title),
    ]),
    { hasNameColumn: true },
  );
  out.line(entries.length === 0 ? 'No tools.' : `\n${formatCount(entries.length, 'tool')}`);
}
