import { resolve } from 'node:path';
import { stringifyExact } from '../../lib/exact-json.ts';
import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { harmless } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import { misfitOf } from './call/call-arguments.ts';
import { readCallWords } from './call/call-words.ts';
import type { CallWords } from './call/call-words.ts';
import { contentLines } from './call/content.ts';
import { entryNamed } from './call/entry-named.ts';

interface PromptOptions extends AdHocOptions {
  readonly out?: string;
}

/** A prompt with its arguments filled in. */
export async function prompt(
  options: PromptOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { named, rest } = entryNamed(words, options);
  const args = textsOf(await readCallWords(rest, context));
  return onLine(options, context, async (line) => {
    const { out } = context;
    const result = await out
      .during(`Getting ${named.name}`, () => line.client.pass('POST /api/prompt', { ...named, args }, line))
      .catch((error: unknown) => {
        throw misfitOf(error, named.name) ?? error;
      });
    if (out.style.format === 'json') {
      out.line(result.text);
      return 0;
    }
    const { messages } = isJsonObject(result.peek) ? result.peek : ({} as JsonObject);
    const folder = options.out === undefined ? undefined : resolve(context.cwd, options.out);
    for (const message of Array.isArray(messages) ? messages.filter(isJsonObject) : []) {
      out.line(out.paint.bold(`${harmless(String(message['role']))}:`));
      for (const text of await contentLines([message['content']], folder)) out.line(text);
    }
    return 0;
  });
}

/** The protocol knows only texts as arguments of prompts. */
function textsOf({ base, pairs }: CallWords): Readonly<Record<string, string>> {
  const text = (value: unknown): string => (typeof value === 'string' ? value : stringifyExact(value));
  return Object.fromEntries([
    ...Object.entries(base).map(([key, value]) => [key, text(value)] as const),
    ...pairs.map(({ key, value }) => [key, 'text' in value ? value.text : text(value.json)] as const),
  ]);
}
