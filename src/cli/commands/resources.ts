import type { ExitCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { runListCommand } from './list-command.ts';

/** Lists resources, followed by resource templates. */
export function runResources(
  options: AdHocOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const toRow = (uri: string, definition: JsonObject) => [
    { text: uri, paint: out.paint.bold },
    toOneLine(definition['mimeType']),
    toOneLine(definition['description'], definition['title'], definition['name']),
  ];
  return runListCommand(
    options,
    { context, words },
    {
      title: 'resources',
      fetch: async (gateway, filter) => {
        const [listed, templates] = await Promise.all([
          gateway.client.request('GET /api/resources', filter, gateway),
          gateway.client.request('GET /api/templates', filter, gateway),
        ]);
        return [...listed, ...templates];
      },
      print: (entries) => {
        const templates = entries.filter((entry) => 'uriTemplate' in entry).length;
        out.table(
          entries.map((entry) =>
            toRow('uriTemplate' in entry ? entry.uriTemplate : entry.uri, entry.definition),
          ),
          { hasNameColumn: true },
        );
        const count = [
          formatCount(entries.length - templates, 'resource'),
          formatCount(templates, 'template'),
        ];
        out.line(entries.length === 0 ? 'No resources.' : `\n${count.join(', ')}`);
      },
    },
  );
}
