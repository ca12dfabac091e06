import type { AdminTool } from '../../admin/contract/contract.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { counted, listEntries } from './listing.ts';
import { tierPaint } from './tier.ts';

export function tools(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return listEntries(
    options,
    { context, words },
    {
      title: 'tools',
      ask: async (line, asked) => {
        const listed = await line.client.ask('GET /api/tools', asked, line);
        return line.only === undefined ? listed : listed.map((tool) => ({ ...tool, name: tool.original }));
      },
      print: (shown) => print(shown, context),
    },
  );
}

function print(shown: readonly AdminTool[], { out }: CliContext): void {
  out.table(
    shown.map(({ name, tier, description, title }) => [
      { text: name, paint: out.paint.bold },
      { text: tier, paint: tierPaint(tier, out.paint) },
      inOneLine(description, title),
    ]),
    { isNamed: true },
  );
  out.line(shown.length === 0 ? 'No tools.' : `\n${counted(shown.length, 'tool')}`);
}
