import type { View } from '../gateway/view.ts';
import { matchesGlob } from '../lib/glob.ts';
import type { ToolEntry } from '../model/entry.ts';
import { callThrough } from './call-through.ts';
import { describeAnswer } from './describe-answer.ts';
import type { Exposure } from './exposure.ts';
import { serverLines } from './instructions.ts';
import { CALL_TOOLS, metaTools } from './meta-tools.ts';
import { searchAnswer } from './search-answer.ts';

export interface SearchOptions {
  /** Globs on exposed names. */
  readonly pin: readonly string[];
  readonly callTools: 'tiers' | 'single';
  readonly reveal: boolean;
}

/** A few tools that find, describe and call all others; pinned and revealed ones are listed beside them. */
export function search({ pin, callTools, reveal }: SearchOptions): Exposure {
  const meta = metaTools(callTools);
  const offered = new Set(meta.map(({ name }) => name));
  const isPinned = (name: string): boolean => pin.some((glob) => matchesGlob(name, glob));
  const listed = (view: View, revealed: ReadonlySet<string> | undefined): readonly ToolEntry[] =>
    pin.length === 0 && (revealed === undefined || revealed.size === 0)
      ? []
      : view.tools.filter(
          ({ name }) => !offered.has(name) && (isPinned(name) || revealed?.has(name) === true),
        );
  return {
    kind: 'search',
    instructions: (view) => `${HOW_TO[callTools]}\n${serverLines(view)}`,
    tools: (view, revealed) => [
      ...meta,
      ...listed(view, revealed).map((entry) => ({ ...entry.definition, name: entry.name })),
    ],
    digest: (view, revealed) =>
      JSON.stringify(listed(view, revealed).map(({ name, fingerprint }) => [name, fingerprint])),
    async callTool(name, request, context) {
      // Whoever knows the name of a tool calls it as if it were listed.
      if (!offered.has(name)) return context.call(name, request);
      const given = request.params['arguments'];
      const atMost = CALL_TOOLS[name];
      if (atMost !== undefined) return callThrough(name, given, { request, context, atMost });
      const view = await context.settled();
      if (name === 'describe_tools') return describeAnswer(given, view);
      const { payload, names } = await searchAnswer(given, view);
      if (reveal) context.reveal(names);
      return payload;
    },
  };
}

const FIND =
  'The tools of these MCP servers are not listed: find them with search_tools, and read what a signature leaves open with describe_tools.';

const HOW_TO = {
  tiers: `${FIND} Then call a tool with the call tool of its mark: call_read_tool, call_write_tool or call_destructive_tool.`,
  single: `${FIND} Then call a tool with call_tool.`,
} as const;
