import type { CatalogView } from '../gateway/catalog-view.ts';
import { callerKey } from '../core/caller.ts';
import { matchesGlob } from '../core/lib/matches-glob.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { LearnedShapes } from './results/learned-shapes.ts';
import type { OversizedResults } from './results/oversized-results.ts';
import { callByName, callThroughMetaTool } from './call-through-meta-tool.ts';
import { answerDescribeTools } from './answer-describe-tools.ts';
import type { Exposure, ExposureContext } from './exposure.ts';
import { truncateResult } from './truncate-result.ts';
import type { SelectDeps } from './select-result.ts';
import { formatServerLines, formatServerNames } from './format-server-lines.ts';
import { toListedTool } from './to-listed-tool.ts';
import { CALL_TOOLS, listMetaTools, READ_RESULT_TOOL, withServerNames } from './meta-tools.ts';
import { answerReadResult } from './answer-read-result.ts';
import { answerSearchTools } from './answer-search-tools.ts';

export interface SearchExposureOptions {
  /** Globs on exposed names; matching tools are always listed. */
  readonly pin: readonly string[];
  /** Whether there is one call tool per tier, or a single one for all tools. */
  readonly callTools: 'tiers' | 'single';
  /** Whether tools that were described or called are listed for the rest of the session. */
  readonly reveal: boolean;
  /** Truncates long results. If it is absent, every result passes unchanged. */
  readonly results?: OversizedResults;
  /** Evaluates `select`. */
  readonly select?: SelectDeps;
  /** Learns the keys and types of results, to show them with a tool. */
  readonly shapes?: LearnedShapes;
}

/** Exposes a few tools that find, describe and call all others; pinned and revealed tools are listed as well. */
export function createSearchExposure(options: SearchExposureOptions): Exposure {
  const { pin, callTools, reveal, results, select, shapes } = options;
  const metaTools = [...listMetaTools(callTools), ...(results?.isEnabled === true ? [READ_RESULT_TOOL] : [])];
  const metaToolNames = new Set(metaTools.map(({ name }) => name));
  const isPinned = (name: string): boolean => pin.some((glob) => matchesGlob(name, glob));
  type Names = ReadonlySet<string> | undefined;
  const listedEntries = (view: CatalogView, revealed: Names): readonly ToolEntry[] =>
    pin.length === 0 && (revealed === undefined || revealed.size === 0)
      ? []
      : view.tools.filter(
          ({ name }) => !metaToolNames.has(name) && (isPinned(name) || revealed?.has(name) === true),
        );
  return {
    kind: 'search',
    dependsOnListings: pin.length > 0,
    instructions: (view) => `${SERVERS}\n${formatServerLines(view)}\n${HOW_TO[callTools]}`,
    tools: (view, revealed) => [
      ...withServerNames(metaTools, view),
      ...listedEntries(view, revealed).map((entry) => toListedTool(entry, view)),
    ],
    digest: (view, revealed) =>
      JSON.stringify([
        formatServerNames(view),
        ...listedEntries(view, revealed).map(({ name, fingerprint, descriptionFingerprint }) => [
          name,
          fingerprint,
          descriptionFingerprint,
        ]),
      ]),
    callTool: (name, request, context) =>
      truncateResult(results, { name, context, isMetaTool: metaToolNames.has(name) }, () =>
        answer(name, request, context),
      ),
  };

  async function answer(name: string, request: CallRequest, context: ExposureContext): Promise<Payload> {
    // A client may call a tool by its name even if the tool is not listed.
    if (!metaToolNames.has(name)) return callByName(name, request, { context, shapes });
    const args = request.params['arguments'];
    const maxTier = CALL_TOOLS[name];
    if (maxTier !== undefined) {
      const onCall = reveal ? (called: string): void => context.reveal([called]) : undefined;
      return callThroughMetaTool(name, args, { request, context, maxTier, select, results, shapes, onCall });
    }
    if (results !== undefined && name === READ_RESULT_TOOL['name']) {
      return answerReadResult(args, {
        results,
        select,
        owner: callerKey(context.caller),
        cancellation: request.cancellation,
      });
    }
    const view = await context.settled();
    if (name !== 'describe_tools') return answerSearchTools(args, view, () => context.settled());
    const { payload, names } = await answerDescribeTools(args, view, shapes);
    if (reveal) context.reveal(names);
    return payload;
  }
}

const SERVERS = 'Trunkline connects you to these services:';
const FIND =
  'Their tools are not listed. Find one with search_tools, then call it by the name that the search showed';
const REST =
  'describe_tools shows what a signature that ends in … leaves out. Long results are cut; read_result reads the rest.';

const HOW_TO = {
  tiers: `${FIND}, with the call tool that matches its mark: call_read_tool, call_write_tool or call_destructive_tool. ${REST}`,
  single: `${FIND}, with call_tool. ${REST}`,
} as const;
