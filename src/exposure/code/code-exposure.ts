import type { CallRequest } from '../../gateway/calls/call-request.ts';
import { callerKey } from '../../core/caller.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { OversizedResults } from '../results/oversized-results.ts';
import type { Exposure, ExposureContext } from '../exposure.ts';
import { truncateResult } from '../truncate-result.ts';
import { formatServerLines, formatServerNames } from '../format-server-lines.ts';
import { ALWAYS_LOADED, FINDER_TOOLS, READ_RESULT_TOOL, withServerNames } from '../meta-tools.ts';
import { answerReadResult } from '../answer-read-result.ts';
import { callByName } from '../call-through-meta-tool.ts';
import { answerSearchTools } from '../answer-search-tools.ts';
import type { RunCodeDeps } from './run-code.ts';
import type { Sandbox } from './sandbox.ts';

export interface CodeExposureOptions extends Omit<RunCodeDeps, 'names'> {
  readonly sandbox: () => Promise<Sandbox>;
  /** Truncates long results; without it every result passes unchanged. */
  readonly results?: OversizedResults;
}

/** Exposes tools that find and declare all other tools, and `run_code`, which runs a script that calls them. */
export function createCodeExposure(options: CodeExposureOptions): Exposure {
  const { results, shapes } = options;
  const names: RunCodeDeps['names'] = new WeakMap();
  const metaTools = [...CODE_TOOLS, ...(results?.isEnabled === true ? [READ_RESULT_TOOL] : [])];
  const metaToolNames = new Set(metaTools.map(({ name }) => name));
  return {
    kind: 'code',
    dependsOnListings: false,
    instructions: (view) => `${HOW_TO}\n${formatServerLines(view)}`,
    tools: (view) => withServerNames(metaTools, view),
    digest: formatServerNames,
    callTool: (name, request, context) =>
      truncateResult(results, { name, context, isMetaTool: metaToolNames.has(name) }, () =>
        answer(name, request, context),
      ),
  };

  async function answer(name: string, request: CallRequest, context: ExposureContext): Promise<Payload> {
    // A client that knows the name of a tool may call it although it is not listed.
    if (!metaToolNames.has(name)) return callByName(name, request, { context, shapes });
    const args = request.params['arguments'];
    if (results !== undefined && name === READ_RESULT_TOOL['name'])
      return answerReadResult(args, {
        results,
        select: options,
        owner: callerKey(context.caller),
        cancellation: request.cancellation,
      });
    const view = await context.settled();
    if (name === 'search_tools') return answerSearchTools(args, view, () => context.settled());
    if (name === 'describe_tools') {
      const { answerWithDeclarations } = await import('./declarations/answer-with-declarations.ts');
      return answerWithDeclarations(args, view, shapes);
    }
    const [sandbox, { runCode }] = await Promise.all([options.sandbox(), import('./run-code.ts')]);
    return runCode(request, context, { ...options, names, sandbox });
  }
}

const DECLARATIONS_DESCRIPTION = 'TypeScript declarations of up to 10 tools.';

/** Each word of these definitions costs tokens in every session, so they are short. */
const CODE_TOOLS: readonly JsonObject[] = [
  ...FINDER_TOOLS.map((tool) =>
    tool['name'] === 'describe_tools' ? { ...tool, description: DECLARATIONS_DESCRIPTION } : tool,
  ),
  {
    name: 'run_code',
    description:
      'Run JavaScript or TypeScript that calls tools: `await tools.NAME({…})`. Promise.all runs calls in parallel. The last expression or `return` is the result; console.log is shown. No network, no files.',
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string' } },
      required: ['code'],
    },
    // A script can call every tool.
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    _meta: ALWAYS_LOADED,
  },
];

const HOW_TO =
  'The tools of these MCP servers are not listed: find them with search_tools and read their types with describe_tools. Then write a script for run_code: a tool that was found as NAME is called with `await tools.NAME({ … })` or `await tools.SERVER.TOOL({ … })`; filter and combine in the script, and return only what you need.';
