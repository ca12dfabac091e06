import type { JsonObject } from '../core/json.ts';
import type { Tier } from '../core/tier.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import { formatServerNames } from './format-server-lines.ts';

/** The tiers in ascending order: the call tool of a tier also calls the tools of the tiers before it. */
export const TIERS: readonly Tier[] = ['read', 'write', 'destructive'];

/** The highest tier that each call tool may call. */
export const CALL_TOOLS: Readonly<Record<string, Tier>> = {
  call_read_tool: 'read',
  call_write_tool: 'write',
  call_destructive_tool: 'destructive',
  call_tool: 'destructive',
};

export function callToolFor(tier: Tier): string {
  return `call_${tier}_tool`;
}

/** The key of a tool's `_meta` that `ALWAYS_LOADED` sets. */
export const ALWAYS_LOAD = 'anthropic/alwaysLoad';

/**
 * Tells Claude Code to load a tool at the start. Claude Code withholds other tools until its own search finds
 * them, which would hide our search tool.
 */
export const ALWAYS_LOADED: JsonObject = { [ALWAYS_LOAD]: true };

const STRING_SCHEMA = { type: 'string' };

const INTEGER_SCHEMA = { type: 'integer' };
const STRINGS_SCHEMA = { type: 'array', items: STRING_SCHEMA };

function objectSchema(properties: JsonObject, required?: readonly string[]): JsonObject {
  return { type: 'object', properties, required };
}

/** Call tools also accept `timeoutMs`. The schema leaves it out, because models rarely need it and it would cost tokens in every session. */
const CALL_SCHEMA = objectSchema(
  {
    name: STRING_SCHEMA,
    arguments: { type: 'object' },
    select: STRING_SCHEMA,
  },
  ['name'],
);

/** The tools of every exposure that does not list all tools. */
export const FINDER_TOOLS: readonly JsonObject[] = [
  {
    name: 'search_tools',
    description:
      'Find tools of connected services by what they do ("create an issue"). Use it before saying something cannot be done.',
    inputSchema: objectSchema({
      query: STRING_SCHEMA,
      queries: STRINGS_SCHEMA,
      server: STRING_SCHEMA,
    }),
    annotations: { readOnlyHint: true },
    _meta: ALWAYS_LOADED,
  },
  {
    name: 'describe_tools',
    description: 'Schemas of tools.',
    inputSchema: objectSchema({ names: STRINGS_SCHEMA }),
    annotations: { readOnlyHint: true },
    _meta: ALWAYS_LOADED,
  },
];

const TIERED_CALL_TOOLS: readonly JsonObject[] = [
  {
    name: 'call_read_tool',
    description:
      'Call a [read] tool by the name search_tools showed. Its parameters go into arguments; select keeps what you need: JavaScript, data.map(x => x.id)',
    inputSchema: CALL_SCHEMA,
    annotations: { readOnlyHint: true },
    _meta: ALWAYS_LOADED,
  },
  {
    name: 'call_write_tool',
    description: 'For [write] tools.',
    inputSchema: CALL_SCHEMA,
    annotations: { destructiveHint: false },
    _meta: ALWAYS_LOADED,
  },
  {
    name: 'call_destructive_tool',
    description: 'For [destructive] tools: deletes, sends, pays, executes. Only what the user asked for.',
    inputSchema: CALL_SCHEMA,
    annotations: { destructiveHint: true },
    _meta: ALWAYS_LOADED,
  },
];

const SINGLE_CALL_TOOL: readonly JsonObject[] = [
  {
    name: 'call_tool',
    description:
      'Call a tool by the name search_tools showed. Its parameters go into arguments; select keeps what you need: JavaScript, data.map(x => x.id)',
    inputSchema: CALL_SCHEMA,
    annotations: { destructiveHint: true },
    _meta: ALWAYS_LOADED,
  },
];

/** The tool that reads truncated results; listed only if long results are truncated. It also accepts `limit`, which the notes in our results name. */
export const READ_RESULT_TOOL: JsonObject = {
  name: 'read_result',
  description: 'More of a cut result: from offset, what matches find, or select.',
  inputSchema: objectSchema({
    id: STRING_SCHEMA,
    offset: INTEGER_SCHEMA,
    find: STRING_SCHEMA,
    select: STRING_SCHEMA,
  }),
  annotations: { readOnlyHint: true },
  _meta: ALWAYS_LOADED,
};

/** Returns the definitions of the meta tools. They are short, because each word costs tokens in every session. */
export function listMetaTools(callTools: 'tiers' | 'single'): readonly JsonObject[] {
  return [...FINDER_TOOLS, ...(callTools === 'single' ? SINGLE_CALL_TOOL : TIERED_CALL_TOOLS)];
}

/**
 * Adds the names of the servers to the description of `search_tools`, because several clients ignore our instructions, and others find
 * tools by the words of their descriptions.
 */
export function withServerNames(metaTools: readonly JsonObject[], view: CatalogView): readonly JsonObject[] {
  const servers = formatServerNames(view);
  if (servers === '') return metaTools;
  return metaTools.map((tool) =>
    tool['name'] === 'search_tools'
      ? { ...tool, description: `${String(tool['description'])} Servers: ${servers}.` }
      : tool,
  );
}
