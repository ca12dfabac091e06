import type { CallRequest } from '../../gateway/calls/call-request.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExposureContext } from '../exposure.ts';
import { parseMetaArguments, invalidArgumentsError } from '../meta-arguments.ts';
import type { LearnedShapes } from '../results/learned-shapes.ts';
import type { ScriptLimits } from './worker-messages.ts';
import { formatScriptResult } from './format-script-result.ts';
import type { Sandbox } from './sandbox.ts';
import { ScriptCalls } from './script-calls.ts';
import type { ToolNameIndex } from './tool-names.ts';

const MAX_SOURCE = 256 * 1024;

export interface RunCodeDeps {
  readonly limits: ScriptLimits;
  /** Learns the keys and types of results, to declare what a tool returns. */
  readonly shapes?: LearnedShapes;
  /** Separates the server name from the tool name in exposed names. */
  readonly separator: string;
  /** The name index of each view, cached because building it reads every tool. */
  readonly names: WeakMap<CatalogView, ToolNameIndex>;
}

/** Answers `run_code`. The calls of a script pass through the same guards as any other call and are cancelled when it ends. */
export async function runCode(
  request: CallRequest,
  context: ExposureContext,
  { sandbox, limits: configured, separator, names, shapes }: RunCodeDeps & { readonly sandbox: Sandbox },
): Promise<Payload> {
  const { code } = parseMetaArguments(request.params['arguments']);
  if (typeof code !== 'string' || code.trim() === '')
    throw invalidArgumentsError('code must be the text of a script');
  if (code.length > MAX_SOURCE)
    throw invalidArgumentsError(`code must have at most ${MAX_SOURCE} characters`);
  const { cancellation, requestingClient, timeoutMs = configured.timeoutMs } = request;
  const limits = { ...configured, timeoutMs: Math.min(timeoutMs, configured.timeoutMs) };
  // A quarter of the memory in characters: the script needs memory for the text of a result and for the parsed value.
  const maxChars = (limits.memoryMb * 1024 * 1024) / 4;
  const calls = new ScriptCalls({ request, context, separator, names, shapes, maxChars });
  try {
    const result = await sandbox.run(
      { source: code, names: calls.names.json, limits, call: (call) => calls.call(call) },
      {
        cancellation,
        started: (run) => {
          if (requestingClient !== undefined) requestingClient.deadline = run;
        },
      },
    );
    if (result.outcome.kind !== 'value' && calls.stopping !== undefined) throw calls.stopping;
    return formatScriptResult(result, limits);
  } finally {
    calls.cancel(
      cancellation.reason ?? new GatewayError('CALL_CANCELLED', 'The script that made the call has ended.'),
    );
  }
}
