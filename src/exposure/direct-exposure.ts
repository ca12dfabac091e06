import { callerKey } from '../core/caller.ts';
import { answerReadResult } from './answer-read-result.ts';
import type { Exposure } from './exposure.ts';
import { formatServerLines } from './format-server-lines.ts';
import { READ_RESULT_TOOL } from './meta-tools.ts';
import type { OversizedResults } from './results/oversized-results.ts';
import type { SelectDeps } from './select-result.ts';
import { toListedTool } from './to-listed-tool.ts';
import { truncateResult } from './truncate-result.ts';

/** Lists every visible tool under its exposed name. */
export const directExposure: Exposure = {
  kind: 'direct',
  dependsOnListings: true,
  instructions: (view) =>
    `These tools come from several MCP servers and are all listed; a tool's name begins with the name of its server.\n${formatServerLines(view)}`,
  tools: (view) => view.tools.map((entry) => toListedTool(entry, view)),
  digest: (view) => view.digests.tools,
  callTool: (name, request, context) => context.call(name, request),
};

/** Creates a direct exposure that truncates long results, for clients that would pass them to the model in full. */
export function createTruncatingDirectExposure(
  results: OversizedResults,
  select: SelectDeps | undefined,
): Exposure {
  return {
    ...directExposure,
    tools: (view) => [...directExposure.tools(view), READ_RESULT_TOOL],
    callTool: (name, request, context) => {
      const isMetaTool = name === READ_RESULT_TOOL['name'];
      const { cancellation, params } = request;
      const owner = callerKey(context.caller);
      return truncateResult(results, { name, context, isMetaTool }, () =>
        isMetaTool
          ? answerReadResult(params['arguments'], { results, select, owner, cancellation })
          : context.call(name, request),
      );
    },
  };
}
