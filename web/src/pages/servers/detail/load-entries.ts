import type { Api } from '../../../api/api.ts';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';

/** The entries of one kind that a server offers. */
export interface EntryGroup {
  readonly title: string;
  readonly entries: readonly OfferedEntry[];
}

interface OfferedEntry {
  readonly name: string;
  readonly text: string;
  readonly isTool?: boolean;
}

/** The maximum length of a description, in characters. */
const MAX_TEXT_CHARS = 240;

/** Loads the entries from the last listing of a server. Does not start the server. */
export async function loadEntries({ request }: Api, server: string): Promise<readonly EntryGroup[]> {
  const query = { server, cached: true };
  const [tools, prompts, resources, templates] = await Promise.all([
    request('GET /api/tools', query),
    request('GET /api/prompts', query),
    request('GET /api/resources', query),
    request('GET /api/templates', query),
  ]);
  return [
    {
      title: 'Tools',
      entries: tools.map(({ name, description }) => ({ name, text: toOneLine(description), isTool: true })),
    },
    {
      title: 'Prompts',
      entries: prompts.map(({ name, definition }) => ({ name, text: toOneLine(definition['description']) })),
    },
    {
      title: 'Resources',
      entries: resources.map(({ uri, definition }) => ({ name: uri, text: describe(definition) })),
    },
    {
      title: 'Resource templates',
      entries: templates.map(({ uriTemplate, definition }) => ({
        name: uriTemplate,
        text: describe(definition),
      })),
    },
  ];
}

function describe(definition: Readonly<Record<string, unknown>>): string {
  return toOneLine(definition['description'] ?? definition['title'] ?? definition['name']);
}

function toOneLine(text: unknown): string {
  if (typeof text !== 'string') return '';
  const line = text.slice(0, MAX_TEXT_CHARS + 1).replaceAll(/\s+/g, ' ');
  return escapeInvisible(line.length > MAX_TEXT_CHARS ? `${line.slice(0, MAX_TEXT_CHARS)}…` : line);
}
