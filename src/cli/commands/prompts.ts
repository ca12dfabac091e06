import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../on-line.ts';
import { chosenServer, counted, tellMissing } from './listing.ts';

export function prompts(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const asked = chosenServer(line, words);
    const listed = await out.during('Listing prompts', () =>
      line.client.ask('GET /api/prompts', asked, line),
    );
    await tellMissing(line, asked, context);
    const shown = line.only === undefined ? listed : listed.map((each) => ({ ...each, name: each.original }));
    if (out.style.format === 'json') {
      out.json(shown);
      return 0;
    }
    out.table(
      shown.map(({ name, definition }) => [
        { text: name, paint: out.paint.bold },
        argumentsOf(definition),
        inOneLine(definition['description'], definition['title']),
      ]),
      { isNamed: true },
    );
    out.line(shown.length === 0 ? 'No prompts.' : `\n${counted(shown.length, 'prompt')}`);
    return 0;
  });
}

/** As they are typed: required ones plain, others in brackets. */
function argumentsOf({ arguments: declared }: JsonObject): string {
  if (!Array.isArray(declared)) return '';
  return declared
    .filter(isJsonObject)
    .map(({ name, required }) => (required === true ? `${String(name)}=…` : `[${String(name)}=…]`))
    .join(' ');
}
