import { createInterface } from 'node:readline';
import type { JsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import { harmless } from '../../harmless.ts';
import { fieldsOf, readField } from './form.ts';
import type { Field } from './form.ts';

/** Puts forms of servers to the person at the terminal, one after the other; undefined where nobody sits there. */
export function askPerson(
  context: CliContext,
  signal: AbortSignal,
): ((params: JsonObject) => Promise<JsonObject>) | undefined {
  if (context.stdin.isTTY !== true || context.stderr.isTTY !== true) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (params) => {
    const answer = last.then(() => fillIn(params, context, signal));
    last = answer.catch(() => {});
    return answer;
  };
}

/** The end of input means that the person does not want to answer at all. */
class Left extends Error {}

async function fillIn(
  { message, requestedSchema }: JsonObject,
  context: CliContext,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { out, stdin, stderr } = context;
  using _ = out.pause();
  // Without its own editing of lines Ctrl-C stays what it is everywhere else.
  const lines = createInterface({ input: stdin, terminal: false });
  const reader = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    out.question(question);
    // Whatever is said about the end is no part of the question.
    const leave = (): void => void stderr.write('\n');
    signal.addEventListener('abort', leave, { once: true });
    const next = await reader.next();
    signal.removeEventListener('abort', leave);
    if (next.done !== true) return next.value;
    leave();
    throw new Left();
  };
  try {
    out.note(`The server asks: ${typeof message === 'string' ? harmless(message) : ''}`);
    if (/^n/i.test((await ask('Answer it? [Y/n]')).trim())) return { action: 'decline' };
    const content: Record<string, unknown> = {};
    for (const field of fieldsOf(requestedSchema)) {
      const value = await askField(field, ask, context);
      if (value !== undefined) Object.defineProperty(content, field.key, { value, enumerable: true });
    }
    return { action: 'accept', content };
  } catch (error) {
    if (error instanceof Left) return { action: 'cancel' };
    throw error;
  } finally {
    lines.close();
  }
}

async function askField(
  field: Field,
  ask: (question: string) => Promise<string>,
  { out }: CliContext,
): Promise<unknown> {
  const { about, choices, fallback, isRequired, type } = field;
  choices.forEach(({ label }, at) => out.note(`  ${at + 1}  ${label}`));
  const hint = type === 'boolean' ? ' [yes/no]' : type === 'array' ? ' [several with commas]' : '';
  const end =
    fallback !== undefined ? ` (${JSON.stringify(fallback)})` : isRequired ? '' : ' (may be left empty)';
  for (;;) {
    const read = readField(field, await ask(harmless(`${about}${hint}${end}:`)));
    if ('value' in read) return read.value;
    out.note(read.problem);
  }
}
