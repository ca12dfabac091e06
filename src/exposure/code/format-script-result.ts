import { parseExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { withoutGatewayMarks } from '../../core/gateway-meta.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ScriptOutcome, ScriptLimits } from './worker-messages.ts';
import { MAX_NESTING, measureNesting } from './measure-nesting.ts';
import type { ScriptResult } from './script-run.ts';

/** Returns the answer to `run_code`: the result of the script or the reason why there is none, and its log. */
export function formatScriptResult(
  { outcome, log, isLogCut, hasUnfinishedCalls }: ScriptResult,
  limits: ScriptLimits,
): Payload {
  const logBlocks =
    log.length === 0
      ? []
      : [textBlock(`console:\n${log.join('\n')}${isLogCut ? '\n… (the rest was left out)' : ''}`)];
  const warnings = hasUnfinishedCalls
    ? [textBlock('Calls that the script did not await were still running and have been cancelled.')]
    : [];
  if (outcome.kind === 'value') {
    const { content, ...rest } = valueResult(outcome.json, { limits, hasLog: logBlocks.length > 0 });
    return Payload.of({ ...rest, content: [...content, ...logBlocks, ...warnings] });
  }
  const { code, message } = describeFailure(outcome, limits);
  return Payload.of({
    content: [textBlock(message), ...logBlocks, ...warnings],
    isError: true,
    _meta: { 'trunkline/code': code },
  });
}

type ToolResult = JsonObject & { readonly content: readonly JsonObject[] };

function valueResult(
  json: string | undefined,
  { limits, hasLog }: { readonly limits: ScriptLimits; readonly hasLog: boolean },
): ToolResult {
  if (json === undefined) {
    if (hasLog) return { content: [] };
    return { content: [textBlock('The script returned nothing; end it with an expression or with return.')] };
  }
  const value = json.startsWith('{') && json.includes('"content"') ? parseShallow(json) : undefined;
  if (isToolResult(value)) return toPlainResult(value);
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  const { maxOutput } = limits;
  if (text.length <= maxOutput) return { content: [textBlock(text)] };
  const note = `The result has ${text.length} characters and was cut at ${maxOutput}; let the script select or summarise.`;
  return { content: [textBlock(trimLoneSurrogate(text.slice(0, maxOutput))), textBlock(note)] };
}

/** Returns undefined for a value that is nested too deeply to be serialized again; it stays text. */
function parseShallow(json: string): unknown {
  return measureNesting(json) > MAX_NESTING ? undefined : parseExact(json);
}

/** Removes the first half of a surrogate pair at the end of a truncated text. */
function trimLoneSurrogate(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

/** The members of each block type that must be strings. */
const REQUIRED_STRINGS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['data', 'mimeType']],
  ['audio', ['data', 'mimeType']],
  ['resource_link', ['uri', 'name']],
]);

/**
 * Whether a script returned the result of a `raw` call. Such a result is passed on unchanged, so images stay
 * images.
 */
function isToolResult(value: unknown): value is ToolResult {
  if (!isJsonObject(value) || !Array.isArray(value['content']) || value['content'].length === 0) return false;
  return value['content'].every((block: unknown) => {
    if (!isJsonObject(block)) return false;
    if (block['type'] === 'resource') return isJsonObject(block['resource']);
    return REQUIRED_STRINGS.get(block['type'])?.every((member) => typeof block[member] === 'string') === true;
  });
}

/**
 * Keeps only what describes a result. A text that a server sent may have become this value, and it must neither ask the client a
 * question (`resultType`, `inputRequests`) nor pass for an answer of the gateway.
 */
function toPlainResult({ content, structuredContent, isError, _meta }: ToolResult): ToolResult {
  const members = Object.entries({ structuredContent, isError, _meta }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...withoutGatewayMarks(Object.fromEntries(members)), content };
}

function describeFailure(
  outcome: Exclude<ScriptOutcome, { kind: 'value' }>,
  limits: ScriptLimits,
): { readonly code: ErrorCode; readonly message: string } {
  if (outcome.kind === 'stopped')
    return { code: 'SCRIPT_STOPPED', message: STOPPED_MESSAGES[outcome.limit](limits) };
  if (outcome.kind === 'stuck') {
    return {
      code: 'SCRIPT_FAILED',
      message: 'The script waits for a promise that nothing can settle any more.',
    };
  }
  const { name, message, line } = outcome;
  const description = [name, message]
    .filter((part) => part !== '')
    .join(': ')
    .slice(0, limits.maxOutput);
  return {
    code: 'SCRIPT_FAILED',
    message: line === undefined ? description : `${description} (line ${line})`,
  };
}

const STOPPED_MESSAGES = {
  time: ({ timeoutMs }: ScriptLimits) =>
    `The script was stopped after ${timeoutMs / 1000} s, and its pending calls were cancelled. code.timeout sets the limit.`,
  cpu: ({ cpuMs }: ScriptLimits) =>
    `The script was stopped: it computed for more than ${cpuMs / 1000} s. code.cpu sets the limit.`,
  memory: ({ memoryMb }: ScriptLimits) =>
    `The script was stopped: it needed more than ${memoryMb} MB of memory. code.memoryMb sets the limit.`,
  calls: ({ maxCalls }: ScriptLimits) =>
    `The script was stopped: it tried to make more than ${maxCalls} calls. code.maxCalls sets the limit.`,
} as const;

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}
