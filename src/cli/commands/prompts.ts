import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { counted, listEntries } from './listing.ts';

export function prompts(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  return listEntries(
    options,
    { context, words },
    {
      title: 'prompts',
      ask: async (line, asked) => {
        const listed = await line.client.ask('GET /api/prompts', asked, line);
        return line.only === undefined ? listed : listed.map((each) => ({ ...each, name: each.original }));
      },
      print: (shown) => {
        const rows = shown.map(({ name, definition }) => [
          { text: name, paint: out.paint.bold },
          argumentsOf(definition),
          inOneLine(definition['description'], definition['title']),
        ]);
        out.table(rows, { isNamed: true });
        out.line(shown.length === 0 ? 'No prompts.' : `\n${counted(shown.length, 'prompt')}`);
      },
    },
  );
}

/** As they are typed: required ones plain, others in brackets. */
function argumentsOf({ arguments: declared }: JsonObject): string {
  if (!Array.isArray(declared)) return '';
  return declared
    .filter(isJsonObject)
    .map(({ name, required }) => (required === true ? `${String(name)}=…` : `[${String(name)}=…]`))
    .join(' ');
}
