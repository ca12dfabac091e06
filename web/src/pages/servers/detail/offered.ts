import type { Api } from '../../../api/api.ts';
import { visible } from '../../../lib/visible.ts';

/** One kind of what a server offers. */
export interface Offered {
  readonly title: string;
  readonly entries: readonly OfferedEntry[];
}

interface OfferedEntry {
  readonly name: string;
  readonly text: string;
  readonly isTool?: boolean;
}

/** A line of it is shown. */
const MOST_CHARS = 240;

/** What a server last said it offers; nothing is started for it. */
export async function offered({ ask }: Api, server: string): Promise<readonly Offered[]> {
  const which = { server, cached: true };
  const [tools, prompts, resources, templates] = await Promise.all([
    ask('GET /api/tools', which),
    ask('GET /api/prompts', which),
    ask('GET /api/resources', which),
    ask('GET /api/templates', which),
  ]);
  return [
    {
      title: 'Tools',
      entries: tools.map(({ name, description }) => ({ name, text: line(description), isTool: true })),
    },
    {
      title: 'Prompts',
      entries: prompts.map(({ name, definition }) => ({ name, text: line(definition['description']) })),
    },
    {
      title: 'Resources',
      entries: resources.map(({ uri, definition }) => ({ name: uri, text: described(definition) })),
    },
    {
      title: 'Resource templates',
      entries: templates.map(({ uriTemplate, definition }) => ({
        name: uriTemplate,
        text: described(definition),
      })),
    },
  ];
}

function described(definition: Readonly<Record<string, unknown>>): string {
  return line(definition['description'] ?? definition['title'] ?? definition['name']);
}

function line(text: unknown): string {
  if (typeof text !== 'string') return '';
  const short = text.slice(0, MOST_CHARS + 1).replaceAll(/\s+/g, ' ');
  return visible(short.length > MOST_CHARS ? `${short.slice(0, MOST_CHARS)}…` : short);
}
