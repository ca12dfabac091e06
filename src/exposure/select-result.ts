import type { Cancellation } from '../core/lib/cancellation.ts';
import { stringifyExact } from '../core/lib/exact-json.ts';
import { Payload } from '../core/lib/payload.ts';
import { sanitizeText } from '../core/lib/sanitize-text.ts';
import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { createFailure, toScriptValue } from './code/to-script-value.ts';
import { MAX_NESTING, measureNesting } from './code/measure-nesting.ts';
import type { Sandbox } from './code/sandbox.ts';
import type { ScriptCallAnswer, ScriptData, ScriptLimits, ScriptOutcome } from './code/worker-messages.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { invalidArgumentsError } from './meta-arguments.ts';
import type { OversizedResults } from './results/oversized-results.ts';
import { formatShape, shapeOf } from './results/json-shape.ts';
import { wrapsText } from './results/learned-shapes.ts';

export interface SelectDeps {
  readonly sandbox: () => Promise<Sandbox>;
  /** The limits of scripts; a selection has tighter ones. */
  readonly limits: ScriptLimits;
}

interface SelectOptions {
  readonly expression: string;
  /** The tool that returned the result. */
  readonly tool: string;
  readonly owner: string;
  readonly results: OversizedResults | undefined;
  readonly cancellation: Cancellation;
  /** The id of a result that is stored already. */
  readonly storedId?: string;
}

const MAX_EXPRESSION = 10_000;
/** A larger result would take too long to parse; `read_result` can still read it with `find` or `offset`. */
const MAX_DATA = 1_000_000;
const MAX_CPU_MS = 5_000;
const MAX_TIME_MS = 20_000;
/** A result up to this size is shown whole if the selection fails or is empty, which is cheaper than another call. */
const SMALL_TOKENS = 500;
const MAX_PROBLEM = 500;
const MAX_QUOTE = 80;

/** Checks a `select` argument before the call is made. Returns undefined if there is none. */
export function parseSelect(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string')
    throw invalidArgumentsError(
      'select must be a JavaScript expression over data, such as "data.map(x => x.id)"',
    );
  if (value.length > MAX_EXPRESSION)
    throw invalidArgumentsError(`select must have at most ${MAX_EXPRESSION} characters`);
  return value;
}

/**
 * Evaluates an expression over the data of a result in the sandbox, and returns its value as text. The call was made already, so a
 * failure is not an error: the answer says what failed, describes the data and names the stored result.
 */
export async function selectFromResult(
  payload: Payload,
  options: SelectOptions,
  deps: SelectDeps,
): Promise<Payload> {
  if (!isSelectable(payload)) return payload;
  const selected = await evaluate(payload, options, deps);
  if (selected.text !== undefined && !selected.isEmpty)
    return Payload.of({ content: [{ type: 'text', text: selected.text }] });
  return explain(payload, selected, options);
}

/** Whether `select` applies to a result. Tool errors and questions to the client pass unchanged. */
function isSelectable({ outline }: Payload): boolean {
  return isJsonObject(outline) && outline['isError'] !== true && outline['resultType'] !== 'input_required';
}

interface Selected {
  /** Absent if the selection failed. */
  readonly text?: string;
  /** Whether nothing was selected, which may mean that the expression does not fit the data. */
  readonly isEmpty?: boolean;
  readonly problem?: string;
}

async function evaluate(
  payload: Payload,
  { expression, tool, cancellation }: SelectOptions,
  { sandbox, limits }: SelectDeps,
): Promise<Selected> {
  if (payload.length > MAX_DATA)
    return { problem: `the result is larger than the ${MAX_DATA} characters that select can read` };
  const answer = dataOf(payload, tool);
  if (answer.kind === 'error' || measureNesting(answer.json) > MAX_NESTING)
    return { problem: `the data is nested more than ${MAX_NESTING} levels deep` };
  try {
    const { outcome } = await (
      await sandbox()
    ).run(
      {
        source: expression,
        names: '{}',
        data: { json: answer.json, isMarked: answer.isMarked } satisfies ScriptData,
        limits: {
          ...limits,
          timeoutMs: Math.min(limits.timeoutMs, MAX_TIME_MS),
          cpuMs: Math.min(limits.cpuMs, MAX_CPU_MS),
          maxCalls: 1,
        },
        call: () => Promise.resolve(createFailure({ message: 'select cannot call tools.' })),
      },
      { cancellation },
    );
    return describeOutcome(outcome);
  } catch (error) {
    cancellation.throwIfCancelled();
    if (!(error instanceof GatewayError)) throw error;
    return { problem: error.message };
  }
}

function describeOutcome(outcome: ScriptOutcome): Selected {
  if (outcome.kind === 'value') {
    const { json = 'undefined' } = outcome;
    if (json.length > MAX_DATA)
      return { problem: `it gave ${json.length} characters, and at most ${MAX_DATA} can be returned` };
    const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
    return { text, isEmpty: /^(?:undefined|null|""|\[\]|\{\})$/.test(json) };
  }
  if (outcome.kind === 'thrown') {
    const { name, message } = outcome;
    return {
      problem: [name, message]
        .filter((part) => part !== '')
        .join(': ')
        .slice(0, MAX_PROBLEM),
    };
  }
  if (outcome.kind === 'stuck') return { problem: 'it waits for a promise that nothing can settle' };
  return { problem: `it needed too much ${outcome.limit === 'memory' ? 'memory' : 'time'} and was stopped` };
}

async function explain(
  payload: Payload,
  { text, problem }: Selected,
  { tool, owner, results, storedId }: SelectOptions,
): Promise<Payload> {
  const isStored = storedId !== undefined;
  const id = storedId ?? (await results?.keep(owner, payload));
  const reason =
    problem === undefined
      ? `select returned ${text === '' ? 'an empty text' : (text ?? '')}.`
      : `select failed: ${problem}.${isStored ? '' : ' The call itself succeeded: do not repeat it.'}`;
  const next = id === undefined ? '' : ` Select again: read_result {"id":"${id}","select":"…"}`;
  const note = { type: 'text', text: `[${reason} data is ${describeData(payload, tool)}.${next}]` };
  const result = isJsonObject(payload.value) ? payload.value : {};
  const content: readonly unknown[] = Array.isArray(result['content']) ? result['content'] : [];
  const isShown = !isStored && (id === undefined || isSmall(payload));
  const meta = id === undefined ? undefined : { 'trunkline/result': { id } };
  return Payload.of({ content: [note, ...(isShown ? content : [])], _meta: meta });
}

/**
 * Returns the value of `data`: the structured content; without it, the text, parsed if it is a JSON object or array; or all content blocks
 * if some are not text. Structured content that only wraps the text, as some libraries add it, is ignored, because the model knows the text.
 */
function dataOf(payload: Payload, tool: string): ScriptCallAnswer {
  const result = payload.value;
  const { structuredContent: _, ...rest } = isJsonObject(result) ? result : {};
  const isWrapped = isJsonObject(result) && wrapsText(result);
  return toScriptValue(isWrapped ? Payload.of(rest) : payload, { tool, raw: false });
}

function isSmall({ length, text }: Payload): boolean {
  return length <= 20 * SMALL_TOKENS && estimateTokens(text, SMALL_TOKENS) <= SMALL_TOKENS;
}

/** Describes what `data` is for an expression. */
function describeData(payload: Payload, tool: string): string {
  if (payload.length > MAX_DATA) return 'too large';
  const answer = dataOf(payload, tool);
  const value: unknown = JSON.parse(answer.json);
  if (typeof value !== 'string') return formatShape(shapeOf(value));
  const lines = value.split('\n').length;
  return `a text of ${value.length} characters in ${lines} line${lines === 1 ? '' : 's'}: ${quoteBeginning(value)}`;
}

/** Quotes the beginning of a text of a server in a note, which it must not be able to end, and in which it must not hide anything. */
function quoteBeginning(text: string): string {
  return stringifyExact(sanitizeText(text.slice(0, MAX_QUOTE)).replaceAll(/[[\]]/g, ''));
}
