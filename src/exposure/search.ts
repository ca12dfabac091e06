import type { View } from '../gateway/view.ts';
import { matchesGlob } from '../lib/glob.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../lib/payload.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { Results } from '../results/results.ts';
import { callThrough } from './call-through.ts';
import { describeAnswer } from './describe-answer.ts';
import type { Exposure, ExposureContext } from './exposure.ts';
import { fitting } from './fitting.ts';
import { serverLines } from './instructions.ts';
import { listedTool } from './listed-tool.ts';
import { CALL_TOOLS, metaTools, READ_RESULT } from './meta-tools.ts';
import { readAnswer } from './read-answer.ts';
import { searchAnswer } from './search-answer.ts';

export interface SearchOptions {
  /** Globs on exposed names. */
  readonly pin: readonly string[];
  readonly callTools: 'tiers' | 'single';
  readonly reveal: boolean;
  /** Keeps what is too big; without it every result passes whole. */
  readonly results?: Results;
}

/** A few tools that find, describe and call all others; pinned and revealed ones are listed beside them. */
export function search({ pin, callTools, reveal, results }: SearchOptions): Exposure {
  const reads = results?.isOn === true ? [READ_RESULT] : [];
  const meta = [...metaTools(callTools), ...reads];
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
    tools: (view, revealed) => [...meta, ...listed(view, revealed).map((entry) => listedTool(entry, view))],
    digest: (view, revealed) =>
      JSON.stringify(
        listed(view, revealed).map(({ name, fingerprint, words }) => [name, fingerprint, words]),
      ),
    callTool: (name, request, context) =>
      fitting(results, { name, context, isOffered: offered.has(name) }, () => answer(name, request, context)),
  };

  async function answer(name: string, request: CallRequest, context: ExposureContext): Promise<Payload> {
    // Whoever knows the name of a tool calls it as if it were listed.
    if (!offered.has(name)) return context.call(name, request);
    const given = request.params['arguments'];
    const atMost = CALL_TOOLS[name];
    if (atMost !== undefined) return callThrough(name, given, { request, context, atMost });
    if (results !== undefined && name === READ_RESULT['name']) {
      return readAnswer(given, { results, owner: context.caller.id, cancellation: request.cancellation });
    }
    const view = await context.settled();
    if (name === 'describe_tools') return describeAnswer(given, view);
    const { payload, names } = await searchAnswer(given, view);
    if (reveal) context.reveal(names);
    return payload;
  }
}

const FIND =
  'The tools of these MCP servers are not listed: find them with search_tools, and read what a signature leaves open with describe_tools.';

const HOW_TO = {
  tiers: `${FIND} Then call a tool with the call tool of its mark: call_read_tool, call_write_tool or call_destructive_tool.`,
  single: `${FIND} Then call a tool with call_tool.`,
} as const;
