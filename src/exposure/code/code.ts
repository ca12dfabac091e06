import type { CallRequest } from '../../gateway/calls/call-request.ts';
import type { Payload } from '../../lib/payload.ts';
import type { Results } from '../../results/results.ts';
import type { Exposure, ExposureContext } from '../exposure.ts';
import { fitting } from '../fitting.ts';
import { serverLines } from '../instructions.ts';
import { READ_RESULT } from '../meta-tools.ts';
import { readAnswer } from '../read-answer.ts';
import { searchAnswer } from '../search-answer.ts';
import { CODE_TOOLS } from './code-tools.ts';
import type { RunDeps } from './run-code.ts';
import type { Sandbox } from './sandbox.ts';

export interface CodeOptions extends Omit<RunDeps, 'names'> {
  readonly sandbox: () => Promise<Sandbox>;
  /** Keeps what is too big; without it every result passes whole. */
  readonly results?: Results;
}

/** Tools that find and declare all others, and one that runs a script which calls them. */
export function code(options: CodeOptions): Exposure {
  const { results } = options;
  const names: RunDeps['names'] = new WeakMap();
  const meta = [...CODE_TOOLS, ...(results?.isOn === true ? [READ_RESULT] : [])];
  const offered = new Set(meta.map(({ name }) => name));
  return {
    kind: 'code',
    instructions: (view) => `${HOW_TO}\n${serverLines(view)}`,
    tools: () => meta,
    digest: () => '',
    callTool: (name, request, context) =>
      fitting(results, { name, context, isOffered: offered.has(name) }, () => answer(name, request, context)),
  };

  async function answer(name: string, request: CallRequest, context: ExposureContext): Promise<Payload> {
    // Whoever knows the name of a tool calls it as if it were listed.
    if (!offered.has(name)) return context.call(name, request);
    const given = request.params['arguments'];
    if (results !== undefined && name === READ_RESULT['name'])
      return readAnswer(given, { results, owner: context.caller.id, cancellation: request.cancellation });
    const view = await context.settled();
    if (name === 'search_tools') return (await searchAnswer(given, view)).payload;
    if (name === 'describe_tools') {
      const { declareAnswer } = await import('./declare/declare-answer.ts');
      return declareAnswer(given, view);
    }
    const [sandbox, { runCode }] = await Promise.all([options.sandbox(), import('./run-code.ts')]);
    return runCode(request, context, { ...options, names, sandbox });
  }
}

const HOW_TO =
  'The tools of these MCP servers are not listed: find them with search_tools and read their types with describe_tools. Then write a script for run_code: a tool that was found as NAME is called with `await tools.NAME({ … })` or `await tools.SERVER.TOOL({ … })`; filter and combine in the script, and return only what you need.';
