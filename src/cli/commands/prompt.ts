import { stringifyExact } from '../../core/lib/exact-json.ts';
import type { ExitCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { sanitize } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { toArgumentsError } from './call/call-arguments.ts';
import { readTypedArguments } from './call/typed-arguments.ts';
import type { TypedArguments } from './call/typed-arguments.ts';
import { formatContent, isSavedLine } from './call/format-content.ts';
import { parseEntrySelection } from './call/entry-selection.ts';
import { prepareOutFolder } from './call/save-content.ts';
import { explainSurplusWord } from './call/fetch-tool.ts';

interface PromptOptions extends AdHocOptions {
  readonly out?: string;
}

/** Prints a prompt with its arguments filled in. */
export async function runPrompt(
  options: PromptOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { entry, rest } = parseEntrySelection(words, options);
  const args = toTextArguments(await readTypedArguments(rest, context));
  const folder = await prepareOutFolder(options.out, context.cwd);
  return withGateway(options, context, async (gateway) => {
    const { out } = context;
    const result = await out
      .withProgress(`Getting ${entry.name}`, () =>
        gateway.client.requestPayload('POST /api/prompt', { ...entry, args }, gateway),
      )
      .catch(async (error: unknown) => {
        throw (
          toArgumentsError(error, entry.name) ?? (await explainSurplusWord(gateway, entry, error)) ?? error
        );
      });
    const isJson = out.style.format === 'json';
    if (isJson) out.jsonText(result.text);
    const { messages } = isJsonObject(result.peek) ? result.peek : ({} as JsonObject);
    for (const message of Array.isArray(messages) ? messages.filter(isJsonObject) : []) {
      if (!isJson) out.line(out.paint.bold(`${sanitize(String(message['role']))}:`));
      // --out saves files in JSON mode, too.
      for (const text of await formatContent([message['content']], folder))
        if (!isJson) out.line(text);
        else if (isSavedLine(text)) out.note(text);
    }
    return 0;
  });
}

/** Converts all arguments to strings, the only type that MCP allows for prompts. */
function toTextArguments({ base, pairs }: TypedArguments): Readonly<Record<string, string>> {
  const text = (value: unknown): string => (typeof value === 'string' ? value : stringifyExact(value));
  return Object.fromEntries([
    ...Object.entries(base).map(([key, value]) => [key, text(value)] as const),
    ...pairs.map(({ key, value }) => [key, 'text' in value ? value.text : text(value.json)] as const),
  ]);
}
