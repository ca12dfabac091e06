import { parseExact } from '../../lib/exact-json.ts';
import { Payload } from '../../lib/payload.ts';
import type { ErrorCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Outcome, ScriptLimits } from './messages.ts';
import { MAX_NESTING, nesting } from './nesting.ts';
import type { ScriptResult } from './script-run.ts';

/** What a model reads of a script: its result, or why there is none, and what it logged. */
export function runAnswer(
  { outcome, log, isLogCut, leftCalls }: ScriptResult,
  limits: ScriptLimits,
): Payload {
  const logged =
    log.length === 0
      ? []
      : [text(`console:\n${log.join('\n')}${isLogCut ? '\n… (the rest was left out)' : ''}`)];
  const left = leftCalls
    ? [text('Calls that the script did not await were still running and have been cancelled.')]
    : [];
  if (outcome.kind === 'value') {
    const { content, ...rest } = resultOf(outcome.json, { limits, isAlone: logged.length === 0 });
    return Payload.of({ ...rest, content: [...content, ...logged, ...left] });
  }
  const { code, message } = problemOf(outcome, limits);
  return Payload.of({
    content: [text(message), ...logged, ...left],
    isError: true,
    _meta: { 'trunkline/code': code },
  });
}

type Result = JsonObject & { readonly content: readonly JsonObject[] };

function resultOf(
  json: string | undefined,
  { limits, isAlone }: { readonly limits: ScriptLimits; readonly isAlone: boolean },
): Result {
  if (json === undefined) {
    if (!isAlone) return { content: [] };
    return { content: [text('The script returned nothing; end it with an expression or with return.')] };
  }
  const value = json.startsWith('{') && json.includes('"content"') ? readable(json) : undefined;
  if (isToolResult(value)) return value;
  const shown = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  const { maxOutput } = limits;
  if (shown.length <= maxOutput) return { content: [text(shown)] };
  const note = `The result has ${shown.length} characters and was cut at ${maxOutput}; let the script select or summarise.`;
  return { content: [text(whole(shown.slice(0, maxOutput))), text(note)] };
}

/** What is nested too deeply for us to write again stays the text that it is. */
function readable(json: string): unknown {
  return nesting(json) > MAX_NESTING ? undefined : parseExact(json);
}

/** A surrogate pair is not cut in two. */
function whole(cut: string): string {
  return cut.replace(/[\uD800-\uDBFF]$/, '');
}

/** Members that are texts, by the type of a block. */
const BLOCKS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['data', 'mimeType']],
  ['audio', ['data', 'mimeType']],
  ['resource_link', ['uri', 'name']],
]);

/** What `raw` gave, handed on: pictures stay pictures. */
function isToolResult(value: unknown): value is Result {
  if (!isJsonObject(value) || !Array.isArray(value['content']) || value['content'].length === 0) return false;
  return value['content'].every((block: unknown) => {
    if (!isJsonObject(block)) return false;
    if (block['type'] === 'resource') return isJsonObject(block['resource']);
    return BLOCKS.get(block['type'])?.every((member) => typeof block[member] === 'string') === true;
  });
}

function problemOf(
  outcome: Exclude<Outcome, { kind: 'value' }>,
  limits: ScriptLimits,
): { readonly code: ErrorCode; readonly message: string } {
  if (outcome.kind === 'stopped') return { code: 'SCRIPT_STOPPED', message: STOPPED[outcome.limit](limits) };
  if (outcome.kind === 'stuck') {
    return {
      code: 'SCRIPT_FAILED',
      message: 'The script waits for a promise that nothing can settle any more.',
    };
  }
  const { name, message, line } = outcome;
  const what = [name, message]
    .filter((part) => part !== '')
    .join(': ')
    .slice(0, limits.maxOutput);
  return { code: 'SCRIPT_FAILED', message: line === undefined ? what : `${what} (line ${line})` };
}

const STOPPED = {
  time: ({ timeoutMs }: ScriptLimits) =>
    `The script was stopped after ${timeoutMs / 1000} s, with the calls that it was waiting for. code.timeout sets the limit.`,
  cpu: ({ cpuMs }: ScriptLimits) =>
    `The script was stopped: it computed for more than ${cpuMs / 1000} s. code.cpu sets the limit.`,
  memory: ({ memoryMb }: ScriptLimits) =>
    `The script was stopped: it needed more than ${memoryMb} MB of memory. code.memoryMb sets the limit.`,
  calls: ({ maxCalls }: ScriptLimits) =>
    `The script was stopped: it wanted more than ${maxCalls} calls. code.maxCalls sets the limit.`,
} as const;

function text(value: string): JsonObject {
  return { type: 'text', text: value };
}
