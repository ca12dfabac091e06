import { parseExact, stringifyExact } from '../../lib/exact-json.ts';
import type { Payload } from '../../lib/payload.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Answer } from './messages.ts';

/** Text that is shown of an error which a tool answered with. */
const MAX_ERROR = 20_000;

/** What a script gets for the result of a tool. */
export function toolValue(
  payload: Payload,
  { tool, raw }: { readonly tool: string; readonly raw: boolean },
): Answer {
  const result = payload.value;
  if (raw || !isJsonObject(result)) return value(result);
  const content: readonly unknown[] = Array.isArray(result['content']) ? result['content'] : [];
  const texts = content.filter(isText).map(({ text }) => text);
  if (result['isError'] === true)
    return failure({ message: messageOf(texts), tool, result: compact(result) });
  if (result['structuredContent'] !== undefined) return value(result['structuredContent']);
  // Pictures and links are worth nothing as text.
  if (texts.length !== content.length) return value(content);
  const text = texts.join('\n');
  return value(parsed(text) ?? text);
}

export function failure(error: { readonly message: string } & JsonObject): Answer {
  return { kind: 'error', json: JSON.stringify(error) };
}

/** An object or a list that was written as text; a word or a number is what it is: text. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined; // It only looked like JSON.
  }
}

function value(given: unknown): Answer {
  const json = JSON.stringify(given) ?? 'null';
  return { kind: 'value', json, isMarked: json !== stringifyExact(given) };
}

function messageOf(texts: readonly string[]): string {
  const text = texts.join('\n').slice(0, MAX_ERROR);
  return text === '' ? 'The tool failed and did not say why.' : text;
}

/** The text is in the message already. */
function compact({ content: _, ...rest }: JsonObject): JsonObject | undefined {
  const { isError: _isError, ...others } = rest;
  return Object.keys(others).length === 0 ? undefined : others;
}

function isText(block: unknown): block is { readonly text: string } {
  return isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}
