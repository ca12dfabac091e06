import type { AdminToolDetail } from '../../admin/contract/contract.ts';
import { parseDuration } from '../../config/duration.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';
import { createElicitationPrompt } from './call/elicitation-prompt.ts';
import { buildCallArguments, toArgumentsError } from './call/call-arguments.ts';
import { readTypedArguments } from './call/typed-arguments.ts';
import type { TypedArguments } from './call/typed-arguments.ts';
import { readContentBlocks, formatContent, isSavedLine } from './call/format-content.ts';
import { parseEntrySelection } from './call/entry-selection.ts';
import type { EntrySelection } from './call/entry-selection.ts';
import { fetchTool } from './call/fetch-tool.ts';
import { startBackgroundGateway } from './call/start-background-gateway.ts';
import { prepareOutFolder } from './call/save-content.ts';
import { formatToolError } from './call/format-tool-error.ts';

interface CallOptions extends AdHocOptions {
  readonly out?: string;
  readonly timeout?: string;
}

/** The exit code if the tool itself reports an error. */
const TOOL_FAILED = 8;

/** Calls a tool. Errors in the command line are reported before anything is started. */
export async function runCall(
  options: CallOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const timeoutMs = parseTimeout(options);
  const { entry, rest } = parseEntrySelection(words, options);
  const typed = await readTypedArguments(rest, context);
  const folder = await prepareOutFolder(options.out, context.cwd);
  const work = async (gateway: CommandConnection): Promise<ExitCode> => {
    let result: Payload;
    try {
      result = await callTool(gateway, { entry, typed, timeoutMs }, context);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // A JSON-RPC error is the server's answer, too, so it has the exit code of a tool error.
      const { code, message } = error.body;
      context.out.problem(
        new GatewayError(
          'UPSTREAM_REFUSED',
          `The server answered with error ${code}: ${formatToolError(message)}`,
          {
            details: { rpc: error.body },
          },
        ),
      );
      return TOOL_FAILED;
    }
    const value = isJsonObject(result.value) ? result.value : {};
    const isError = value['isError'] === true;
    await printResult(result, { value, isError, folder }, context);
    return isError ? TOOL_FAILED : 0;
  };
  return withGateway(options, context, work, {
    startGateway: (location) => startBackgroundGateway(context, location),
  });
}

interface ToolCallRequest {
  readonly entry: EntrySelection['entry'];
  readonly typed: TypedArguments;
  readonly timeoutMs: number | undefined;
}

async function callTool(
  gateway: CommandConnection,
  { entry, typed, timeoutMs }: ToolCallRequest,
  context: CliContext,
): Promise<Payload> {
  using progress = context.out.progress(`Calling ${entry.name}`);
  const tool = (await fetchTool(gateway, entry)).peek as AdminToolDetail; // The contract of the route defines this type.
  const name = gateway.onlyServer === undefined ? tool.name : tool.original;
  const args = buildCallArguments(typed, tool.definition['inputSchema'], name);
  try {
    return await gateway.client.callTool(
      { ...entry, args, timeoutMs },
      {
        signal: gateway.signal,
        onProgress: (notification) => progress.update(...readProgress(notification, name)),
        onQuestion: createElicitationPrompt(context, gateway.signal),
      },
    );
  } catch (error) {
    throw toArgumentsError(error, name) ?? toTimeoutError(error) ?? error;
  }
}

/** Returns an error that names `--timeout` instead of the configuration if that flag set the limit. */
function toTimeoutError(error: unknown): GatewayError | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'CALL_TIMEOUT') return undefined;
  const { upstream, timeoutMs, limitedBy } = error.details;
  if (limitedBy !== 'call' || typeof timeoutMs !== 'number') return undefined;
  const message = `Server "${String(upstream)}" did not answer within ${timeoutMs / 1000} s, the limit set by --timeout or TRUNKLINE_TIMEOUT. The request was cancelled. Set a longer limit with --timeout.`;
  return new GatewayError('CALL_TIMEOUT', message, { cause: error, details: error.details });
}

function readProgress(notification: JsonObject, name: string): [label: string, share: number | undefined] {
  const { progress, total, message } = notification;
  const label = typeof message === 'string' && message !== '' ? message : `Calling ${name}`;
  const isKnown = typeof progress === 'number' && typeof total === 'number' && total > 0;
  return [label, isKnown ? progress / total : undefined];
}

async function printResult(
  result: Payload,
  { value, isError, folder }: { value: JsonObject; isError: boolean; folder: string | undefined },
  { out }: CliContext,
): Promise<void> {
  const isText = out.style.format === 'text';
  // --out saves files in JSON mode, too.
  const lines = isText || folder !== undefined ? await formatContent(readContentBlocks(value), folder) : [];
  if (!isText) {
    out.jsonText(result.text);
    for (const line of folder === undefined ? [] : lines.filter(isSavedLine)) out.note(line);
    return;
  }
  if (!isError) return lines.forEach((line) => out.line(line));
  const text = lines.join('\n').trim();
  out.note(`error: ${text === '' ? '(the tool gave no message)' : formatToolError(text)}`);
}

function parseTimeout({ timeout }: CallOptions): number | undefined {
  if (timeout === undefined) return undefined;
  const ms = /^\d+$/.test(timeout) ? Number(timeout) * 1000 : parseDuration(timeout);
  if (ms !== undefined && ms > 0) return ms;
  throw new GatewayError('USAGE', `--timeout "${timeout}" is not a duration. Write it as 500ms, 30s or 5m.`);
}
