import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseExact } from '../../../core/lib/exact-json.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';

/** Arguments as the user typed them, before the schema of the tool is known. */
export interface TypedArguments {
  /** The members of all JSON objects that were given, merged. */
  readonly base: JsonObject;
  /** The `key=value` and `key:=json` words. They override members of `base`. */
  readonly pairs: readonly ArgumentPair[];
}

export interface ArgumentPair {
  readonly key: string;
  /** A text that is parsed by the type in the schema, or a value that was given as JSON. */
  readonly value: { readonly text: string } | { readonly json: unknown };
}

/** Larger input is rejected, so that a wrong pipe does not fill the memory. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;
/** The maximum wait for the first bytes of a pipe. Scripts are often run with an open pipe to which nothing is ever written. */
const STDIN_TIMEOUT_MS = 10_000;
/** Matches `key=value` and `key:=json`. The key ends at the first `=`. */
const PAIR = /^([^=]*?)(:?=)(.*)$/s;

/** Whether a word can only be an argument and not the name of a tool. */
export function isArgumentWord(word: string): boolean {
  return word === '-' || /^[@{["]/.test(word) || PAIR.test(word);
}

/** Reads `JSON`, `@file`, `-`, `key=value` and `key:=json`. Later objects override earlier ones, and pairs override objects. */
export async function readTypedArguments(
  words: readonly string[],
  context: CliContext,
): Promise<TypedArguments> {
  let base: JsonObject = {};
  const pairs: ArgumentPair[] = [];
  if (words.length === 0) {
    // Without words, JSON is read from a pipe, but not from a terminal, because the program would seem to hang.
    const text = context.stdin.isTTY === true ? '' : await readStdin(context, { isRequested: false });
    return { base: text.trim() === '' ? {} : parseObject(text, 'standard input'), pairs };
  }
  for (const word of words) {
    const pair = parsePair(word);
    if (pair !== undefined) pairs.push(pair);
    else base = { ...base, ...(await readObject(word, context)) };
  }
  return { base, pairs };
}

async function readObject(word: string, context: CliContext): Promise<JsonObject> {
  if (word === '-') {
    const text = await readStdin(context, { isRequested: true });
    return text.trim() === '' ? {} : parseObject(text, 'standard input');
  }
  if (!word.startsWith('@')) return parseObject(word, `"${word.slice(0, 60)}"`);
  const file = resolve(context.cwd, word.slice(1));
  try {
    return parseObject(await readFile(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new GatewayError('USAGE', `The arguments cannot be read from ${file}: ${reason}.`, {
      cause: error,
    });
  }
}

function parseObject(text: string, where: string): JsonObject {
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

function parsePair(word: string): ArgumentPair | undefined {
  if (/^[@{[]/.test(word)) return undefined;
  const [, key, sign, text] = PAIR.exec(word) ?? [];
  if (key === undefined || text === undefined) return undefined;
  if (key === '')
    throw new GatewayError('USAGE', `"${word.slice(0, 60)}" has no name before "=". Write key=value.`);
  if (sign === '=') return { key, value: { text } };
  try {
    return { key, value: { json: parseExact(text) } };
  } catch (error) {
    throw new GatewayError(
      'USAGE',
      `${key}:= must be followed by JSON, but "${text.slice(0, 60)}" is not JSON. For plain text, write ${key}=.`,
      { cause: error },
    );
  }
}

/** Reads all of standard input. If the user did not request it with `-`, the first bytes must arrive within the timeout. */
async function readStdin(
  { stdin }: CliContext,
  { isRequested }: { readonly isRequested: boolean },
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timeout = isRequested
    ? undefined
    : setTimeout(() => {
        const error = new GatewayError(
          'USAGE',
          'No arguments were given, and standard input stayed empty for 10 s. Give {} for no arguments, or - to wait for standard input.',
        );
        stdin.destroy(error);
      }, STDIN_TIMEOUT_MS);
  try {
    for await (const chunk of stdin) {
      clearTimeout(timeout);
      const bytes = Buffer.from(chunk as Buffer | string); // No encoding is set on the stream.
      size += bytes.length;
      if (size > MAX_STDIN_BYTES)
        throw new GatewayError(
          'USAGE',
          'Standard input is larger than 64 MB, which is the limit for arguments.',
        );
      chunks.push(bytes);
    }
  } finally {
    clearTimeout(timeout);
  }
  return Buffer.concat(chunks).toString('utf8');
}
