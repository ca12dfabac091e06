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
import { contentLines, isSaved } from './call/content.ts';
import { entryNamed } from './call/entry-named.ts';
import { outFolder } from './call/saved.ts';
import { surplusWord } from './call/surplus-word.ts';

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
  const folder = await outFolder(options.out, context.cwd);
  return onLine(options, context, async (line) => {
    const { out } = context;
    const result = await out
      .during(`Getting ${named.name}`, () => line.client.pass('POST /api/prompt', { ...named, args }, line))
      .catch(async (error: unknown) => {
        throw misfitOf(error, named.name) ?? (await surplusWord(line, named, error)) ?? error;
      });
    const isJson = out.style.format === 'json';
    if (isJson) out.line(result.text);
    const { messages } = isJsonObject(result.peek) ? result.peek : ({} as JsonObject);
    for (const message of Array.isArray(messages) ? messages.filter(isJsonObject) : []) {
      if (!isJson) out.line(out.paint.bold(`${harmless(String(message['role']))}:`));
      // Also where JSON is printed, since somebody asked for the files.
      for (const text of await contentLines([message['content']], folder))
        if (!isJson) out.line(text);
        else if (isSaved(text)) out.note(text);
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
