import type { ExitCode } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { counted, listEntries } from './listing.ts';

/** Resources and, after them, templates of resources. */
export function resources(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const row = (uri: string, definition: JsonObject) => [
    { text: uri, paint: out.paint.bold },
    inOneLine(definition['mimeType']),
    inOneLine(definition['description'], definition['title'], definition['name']),
  ];
  return listEntries(
    options,
    { context, words },
    {
      title: 'resources',
      ask: async (line, asked) => {
        const [listed, templates] = await Promise.all([
          line.client.ask('GET /api/resources', asked, line),
          line.client.ask('GET /api/templates', asked, line),
        ]);
        return [...listed, ...templates];
      },
      print: (shown) => {
        const templates = shown.filter((each) => 'uriTemplate' in each).length;
        out.table(
          shown.map((each) => row('uriTemplate' in each ? each.uriTemplate : each.uri, each.definition)),
          { isNamed: true },
        );
        const count = [counted(shown.length - templates, 'resource'), counted(templates, 'template')];
        out.line(shown.length === 0 ? 'No resources.' : `\n${count.join(', ')}`);
      },
    },
  );
}
