import type { JsonObject } from '../model/json.ts';
import type { Tier } from '../model/tier.ts';

/** In rising order: a tool of one tier can be called through all that follow. */
export const TIERS: readonly Tier[] = ['read', 'write', 'destructive'];

/** By the name of the tool that calls, what it may call at most. */
export const CALL_TOOLS: Readonly<Record<string, Tier>> = {
  call_read_tool: 'read',
  call_write_tool: 'write',
  call_destructive_tool: 'destructive',
  call_tool: 'destructive',
};

export function callToolFor(tier: Tier): string {
  return `call_${tier}_tool`;
}

const string = { type: 'string' };

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required };
}

const call = object({ name: string, arguments: { type: 'object' }, timeoutMs: { type: 'integer' } }, [
  'name',
  'arguments',
]);

/** Shared by all exposures that do not list every tool. */
export const FINDING: readonly JsonObject[] = [
  {
    name: 'search_tools',
    description: 'Find tools by what they do; answers signatures, best first.',
    inputSchema: object({ query: string, limit: { type: 'integer', maximum: 50 }, server: string }, [
      'query',
    ]),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'describe_tools',
    description: 'Full descriptions and schemas of up to 10 tools.',
    inputSchema: object({ names: { type: 'array', items: string } }, ['names']),
    annotations: { readOnlyHint: true },
  },
];

const tiered: readonly JsonObject[] = [
  {
    name: 'call_read_tool',
    description: 'Call a [read] tool.',
    inputSchema: call,
    annotations: { readOnlyHint: true },
  },
  {
    name: 'call_write_tool',
    description: 'Call a [write] or [read] tool.',
    inputSchema: call,
    annotations: { destructiveHint: false },
  },
  {
    name: 'call_destructive_tool',
    description: 'Call any tool.',
    inputSchema: call,
    annotations: { destructiveHint: true },
  },
];

const single: readonly JsonObject[] = [
  {
    name: 'call_tool',
    description: 'Call any tool.',
    inputSchema: call,
    annotations: { destructiveHint: true },
  },
];

/** Offered where results can be too big. */
export const READ_RESULT: JsonObject = {
  name: 'read_result',
  description: 'Page a cut result, or find text or /regex/.',
  inputSchema: object({ id: string, offset: { type: 'integer' }, limit: { type: 'integer' }, find: string }, [
    'id',
  ]),
  annotations: { readOnlyHint: true },
};

/** Every word here is paid for in every session, so there are few; a tool without `readOnlyHint` changes something. */
export function metaTools(callTools: 'tiers' | 'single'): readonly JsonObject[] {
  return [...FINDING, ...(callTools === 'single' ? single : tiered)];
}
