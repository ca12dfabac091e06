import type { AdminToolDetail } from '../../admin/contract/contract.ts';
import { parseDuration } from '../../config/duration.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { onLine } from '../line/on-line.ts';
import type { Work } from '../line/on-line.ts';
import { askPerson } from './call/ask-person.ts';
import { callArguments, misfitOf } from './call/call-arguments.ts';
import { readCallWords } from './call/call-words.ts';
import type { CallWords } from './call/call-words.ts';
import { blocksOf, contentLines, isSaved } from './call/content.ts';
import { entryNamed } from './call/entry-named.ts';
import type { EntryNamed } from './call/entry-named.ts';
import { foundTool } from './call/found-tool.ts';
import { outFolder } from './call/saved.ts';
import { toolProblem } from './call/tool-problem.ts';

interface CallOptions extends AdHocOptions {
  readonly out?: string;
  readonly timeout?: string;
}

/** The tool itself said that it failed. */
const TOOL_FAILED = 8;

/** Calls a tool. Whatever can be found wrong with the command line is found before anything is started. */
export async function call(
  options: CallOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const timeoutMs = timeoutOf(options);
  const { named, rest } = entryNamed(words, options);
  const typed = await readCallWords(rest, context);
  const folder = await outFolder(options.out, context.cwd);
  return onLine(options, context, async (line) => {
    let result: Payload;
    try {
      result = await callWith(line, { named, typed, timeoutMs }, context);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // What the server says instead of a result is as much its own word as a result that is an error.
      const { code, message } = error.body;
      context.out.problem(
        new GatewayError(
          'UPSTREAM_REFUSED',
          `The server answered with error ${code}: ${toolProblem(message)}`,
          {
            details: { rpc: error.body },
          },
        ),
      );
      return TOOL_FAILED;
    }
    const value = isJsonObject(result.value) ? result.value : {};
    const isError = value['isError'] === true;
    await print(result, { value, isError, folder }, context);
    return isError ? TOOL_FAILED : 0;
  });
}

interface Asked {
  readonly named: EntryNamed['named'];
  readonly typed: CallWords;
  readonly timeoutMs: number | undefined;
}

async function callWith(
  line: Work,
  { named, typed, timeoutMs }: Asked,
  context: CliContext,
): Promise<Payload> {
  using progress = context.out.progress(`Calling ${named.name}`);
  const tool = (await foundTool(line, named)).peek as AdminToolDetail; // As the contract says.
  const shown = line.only === undefined ? tool.name : tool.original;
  const args = callArguments(typed, tool.definition['inputSchema'], shown);
  try {
    return await line.client.call(
      { ...named, args, ...(timeoutMs !== undefined && { timeoutMs }) },
      {
        signal: line.signal,
        onProgress: (told) => progress.update(...progressOf(told, shown)),
        onQuestion: askPerson(context, line.signal),
      },
    );
  } catch (error) {
    throw misfitOf(error, shown) ?? tooShort(error) ?? error;
  }
}

/** A limit that was typed is made longer where it was typed. */
function tooShort(error: unknown): GatewayError | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'CALL_TIMEOUT') return undefined;
  const { upstream, timeoutMs, limitedBy } = error.details;
  if (limitedBy !== 'call' || typeof timeoutMs !== 'number') return undefined;
  const message = `Server "${String(upstream)}" gave no answer within ${timeoutMs / 1000} s, as --timeout or TRUNKLINE_TIMEOUT says. The request was cancelled; --timeout can give it longer.`;
  return new GatewayError('CALL_TIMEOUT', message, { cause: error, details: error.details });
}

function progressOf(told: JsonObject, name: string): [label: string, share: number | undefined] {
  const { progress, total, message } = told;
  const label = typeof message === 'string' && message !== '' ? message : `Calling ${name}`;
  const isKnown = typeof progress === 'number' && typeof total === 'number' && total > 0;
  return [label, isKnown ? progress / total : undefined];
}

async function print(
  result: Payload,
  { value, isError, folder }: { value: JsonObject; isError: boolean; folder: string | undefined },
  { out }: CliContext,
): Promise<void> {
  const isText = out.style.format === 'text';
  // Also where JSON is printed, since somebody asked for the files.
  const lines = isText || folder !== undefined ? await contentLines(blocksOf(value), folder) : [];
  if (!isText) {
    out.line(result.text);
    for (const line of folder === undefined ? [] : lines.filter(isSaved)) out.note(line);
    return;
  }
  if (!isError) return lines.forEach((line) => out.line(line));
  const text = lines.join('\n').trim();
  out.note(`error: ${text === '' ? '(the tool says no more)' : toolProblem(text)}`);
}

function timeoutOf({ timeout }: CallOptions): number | undefined {
  if (timeout === undefined) return undefined;
  const ms = /^\d+$/.test(timeout) ? Number(timeout) * 1000 : parseDuration(timeout);
  if (ms !== undefined && ms > 0) return ms;
  throw new GatewayError('USAGE', `--timeout ${timeout}: give a duration such as 500ms, 30s or 5m.`);
}
