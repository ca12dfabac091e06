import type { AdminTool } from '../../admin/contract.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../on-line.ts';
import { chosenServer, counted, tellMissing } from './listing.ts';
import { tierPaint } from './tier.ts';

export function tools(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const asked = chosenServer(line, words);
    const listed = await out.during('Listing tools', () => line.client.ask('GET /api/tools', asked, line));
    await tellMissing(line, asked, context);
    const shown = line.only === undefined ? listed : listed.map((tool) => ({ ...tool, name: tool.original }));
    if (out.style.format === 'json') out.json(shown);
    else print(shown, context);
    return 0;
  });
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
