import type { CallRequest } from '../../gateway/calls/call-request.ts';
import type { View } from '../../gateway/view.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExposureContext } from '../exposure.ts';
import { metaArguments, wrong } from '../meta-arguments.ts';
import type { ScriptLimits } from './messages.ts';
import { runAnswer } from './run-answer.ts';
import type { Sandbox } from './sandbox.ts';
import { ScriptCalls } from './script-calls.ts';
import type { ToolNames } from './tool-names.ts';

const MAX_SOURCE = 256 * 1024;

export interface RunDeps {
  readonly limits: ScriptLimits;
  /** Between the name of a server and that of its tool. */
  readonly separator: string;
  /** What is kept about views, since it is made of every tool. */
  readonly names: WeakMap<View, ToolNames>;
}

/** `run_code`: a script whose calls go the way of any other call. When it is over, so are they. */
export async function runCode(
  request: CallRequest,
  context: ExposureContext,
  { sandbox, limits: configured, separator, names }: RunDeps & { readonly sandbox: Sandbox },
): Promise<Payload> {
  const { code } = metaArguments(request.params['arguments']);
  if (typeof code !== 'string' || code.trim() === '') throw wrong('code must be the text of a script');
  if (code.length > MAX_SOURCE) throw wrong(`code must have at most ${MAX_SOURCE} characters`);
  const { cancellation, behind, timeoutMs = configured.timeoutMs } = request;
  const limits = { ...configured, timeoutMs: Math.min(timeoutMs, configured.timeoutMs) };
  // A script holds a result as text and as the value made of it.
  const maxChars = (limits.memoryMb * 1024 * 1024) / 4;
  const calls = new ScriptCalls({ request, context, separator, names, maxChars });
  try {
    const result = await sandbox.run(
      { source: code, names: calls.names.json, limits, call: (call) => calls.call(call) },
      {
        cancellation,
        started: (run) => {
          if (behind !== undefined) behind.limit = run;
        },
      },
    );
    if (result.outcome.kind !== 'value' && calls.stopping !== undefined) throw calls.stopping;
    return runAnswer(result, limits);
  } finally {
    calls.cancel(
      cancellation.reason ?? new GatewayError('CALL_CANCELLED', 'The script that made the call is over.'),
    );
  }
}
