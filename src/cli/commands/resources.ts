import type { ExitCode } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../on-line.ts';
import { chosenServer, counted, tellMissing } from './listing.ts';

/** Resources and, after them, templates of resources. */
export function resources(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  return onLine(options, context, async (line) => {
    const { out } = context;
    const asked = chosenServer(line, words);
    const [listed, templates] = await out.during('Listing resources', () =>
      Promise.all([
        line.client.ask('GET /api/resources', asked, line),
        line.client.ask('GET /api/templates', asked, line),
      ]),
    );
    await tellMissing(line, asked, context);
    if (out.style.format === 'json') {
      out.json([...listed, ...templates]);
      return 0;
    }
    const row = (uri: string, definition: JsonObject) => [
      { text: uri, paint: out.paint.bold },
      inOneLine(definition['mimeType']),
      inOneLine(definition['description'], definition['title'], definition['name']),
    ];
    const rows = [
      ...listed.map(({ uri, definition }) => row(uri, definition)),
      ...templates.map(({ uriTemplate, definition }) => row(uriTemplate, definition)),
    ];
    out.table(rows, { isNamed: true });
    const count = [counted(listed.length, 'resource'), counted(templates.length, 'template')].join(', ');
    out.line(listed.length + templates.length === 0 ? 'No resources.' : `\n${count}`);
    return 0;
  });
}
