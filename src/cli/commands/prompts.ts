import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { runListCommand } from './list-command.ts';

export function runPrompts(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  return runListCommand(
    options,
    { context, words },
    {
      title: 'prompts',
      fetch: async (gateway, filter) => {
        const listed = await gateway.client.request('GET /api/prompts', filter, gateway);
        return gateway.onlyServer === undefined
          ? listed
          : listed.map((prompt) => ({ ...prompt, name: prompt.original }));
      },
      print: (entries) => {
        const rows = entries.map(({ name, definition }) => [
          { text: name, paint: out.paint.bold },
          formatArguments(definition),
          toOneLine(definition['description'], definition['title']),
        ]);
        out.table(rows, { hasNameColumn: true });
        out.line(entries.length === 0 ? 'No prompts.' : `\n${formatCount(entries.length, 'prompt')}`);
      },
    },
  );
}

/** Formats arguments as they are typed, with optional ones in brackets. */
function formatArguments({ arguments: declared }: JsonObject): string {
  if (!Array.isArray(declared)) return '';
  return declared
    .filter(isJsonObject)
    .map(({ name, required }) => (required === true ? `${String(name)}=…` : `[${String(name)}=…]`))
    .join(' ');
}
