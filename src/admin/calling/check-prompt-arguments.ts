import type { PromptEntry } from '../../model/entry.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** Fails when an argument is missing that the prompt says it needs, so that no server is started for nothing. */
export function checkPromptArguments({ name, definition }: PromptEntry, args: JsonObject): void {
  const declared: unknown = definition['arguments'];
  const missing = (Array.isArray(declared) ? declared : []).flatMap((each: unknown) => {
    if (!isJsonObject(each) || each['required'] !== true || typeof each['name'] !== 'string') return [];
    return Object.hasOwn(args, each['name']) ? [] : [each];
  });
  if (missing.length === 0) return;
  const problems = missing.map(({ name: argument, description }) => {
    const what = typeof description === 'string' && description !== '' ? `: ${oneLine(description)}` : '';
    return `${oneLine(String(argument))} is required${what}`;
  });
  throw new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not fit ${name}, and were not sent: ${problems.join('; ')}.`,
    { details: { problems } },
  );
}

/** A server may say as much as it likes. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}
