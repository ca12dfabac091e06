import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseExact } from '../../../lib/exact-json.ts';
import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import { readStdin } from '../../read-stdin.ts';

/** Arguments as they were typed, before anything is known about the tool. */
export interface CallWords {
  readonly base: JsonObject;
  readonly pairs: readonly Pair[];
}

export interface Pair {
  readonly key: string;
  /** Text to be read as the schema says, or a value that was given as JSON. */
  readonly value: { readonly text: string } | { readonly json: unknown };
}

const PAIR = /^([^=]*?)(:?=)(.*)$/s;

/** Whether a word can only be an argument, and no name of a tool. */
export function isArgument(word: string): boolean {
  return word === '-' || /^[@{["]/.test(word) || PAIR.test(word);
}

/** Reads `JSON`, `@file`, `-`, `key=value` and `key:=json`; later words win over earlier ones. */
export async function readCallWords(words: readonly string[], context: CliContext): Promise<CallWords> {
  let base: JsonObject = {};
  const pairs: Pair[] = [];
  if (words.length === 0) {
    // As with other programs in a pipe; nobody types JSON at a terminal that did not ask.
    const text = context.stdin.isTTY === true ? '' : await readStdin(context, { isExpected: false });
    return { base: text.trim() === '' ? {} : objectOf(text, 'standard input'), pairs };
  }
  for (const word of words) {
    const pair = pairOf(word);
    if (pair !== undefined) pairs.push(pair);
    else base = { ...base, ...(await objectIn(word, context)) };
  }
  return { base, pairs };
}

async function objectIn(word: string, context: CliContext): Promise<JsonObject> {
  if (word === '-') {
    const text = await readStdin(context, { isExpected: true });
    return text.trim() === '' ? {} : objectOf(text, 'standard input');
  }
  if (!word.startsWith('@')) return objectOf(word, `"${word.slice(0, 60)}"`);
  const file = resolve(context.cwd, word.slice(1));
  try {
    return objectOf(await readFile(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new GatewayError('USAGE', `${file} cannot be read: ${reason}.`, { cause: error });
  }
}

function objectOf(text: string, where: string): JsonObject {
  let value: unknown;
  try {
    value = parseExact(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError(
      'USAGE',
      `The arguments in ${where} are not JSON: ${reason}.\nGive a JSON object, key=value, key:=json, @file, or - for standard input.`,
      { cause: error },
    );
  }
  if (isJsonObject(value)) return value;
  throw new GatewayError(
    'USAGE',
    `The arguments in ${where} must be a JSON object, such as {"key": "value"}.`,
  );
}

function pairOf(word: string): Pair | undefined {
  if (/^[@{[]/.test(word)) return undefined;
  const [, key, sign, text] = PAIR.exec(word) ?? [];
  if (key === undefined || text === undefined) return undefined;
  if (key === '') throw new GatewayError('USAGE', `"${word.slice(0, 60)}" has no name before "=".`);
  if (sign === '=') return { key, value: { text } };
  try {
    return { key, value: { json: parseExact(text) } };
  } catch (error) {
    throw new GatewayError(
      'USAGE',
      `${key}:= needs JSON after it, and "${text.slice(0, 60)}" is none; use ${key}= for plain text.`,
      { cause: error },
    );
  }
}
