import { parseExact, stringifyExact } from '../../core/lib/exact-json.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ScriptCallAnswer } from './worker-messages.ts';

/** The maximum length of a tool's error message, in characters. */
const MAX_ERROR_CHARS = 20_000;

/** Converts the result of a tool to the value that a script receives. */
export function toScriptValue(
  payload: Payload,
  { tool, raw }: { readonly tool: string; readonly raw: boolean },
): ScriptCallAnswer {
  const result = payload.value;
  if (raw || !isJsonObject(result)) return createValue(result);
  const content: readonly unknown[] = Array.isArray(result['content']) ? result['content'] : [];
  const texts = content.filter(isText).map(({ text }) => text);
  if (result['isError'] === true)
    return createFailure({ message: joinTexts(texts), tool, result: remainingMembers(result) });
  if (result['structuredContent'] !== undefined) return createValue(result['structuredContent']);
  // Images and links have no meaning as text, so the script receives all content blocks of the result.
  if (texts.length !== content.length) return createValue(content);
  const text = texts.join('\n');
  return createValue(parseJsonText(text) ?? text);
}

export function createFailure(error: { readonly message: string } & JsonObject): ScriptCallAnswer {
  return { kind: 'error', json: JSON.stringify(error) };
}

/** Parses a text that is a JSON object or array. Returns undefined for any other text, even for a number. */
function parseJsonText(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined; // The text only looks like JSON.
  }
}

function createValue(value: unknown): ScriptCallAnswer {
  const json = JSON.stringify(value) ?? 'null';
  return { kind: 'value', json, isMarked: json !== stringifyExact(value) };
}

function joinTexts(texts: readonly string[]): string {
  const text = texts.join('\n').slice(0, MAX_ERROR_CHARS);
  return text === '' ? 'The tool failed and did not say why.' : text;
}

/** Returns the other members of a failed result. Its texts are in the error message. */
function remainingMembers({ content: _, ...rest }: JsonObject): JsonObject | undefined {
  const { isError: _isError, ...others } = rest;
  return Object.keys(others).length === 0 ? undefined : others;
}

function isText(block: unknown): block is { readonly text: string } {
  return isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}
