import { createInterface } from 'node:readline';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { sanitize } from '../../sanitize.ts';
import { readFormFields, parseAnswer } from './elicitation-form.ts';
import type { FormField } from './elicitation-form.ts';

/** Returns a function that asks the user to fill in a server's form, one form at a time. Returns undefined without a terminal. */
export function createElicitationPrompt(
  context: CliContext,
  signal: AbortSignal,
): ((params: JsonObject) => Promise<JsonObject>) | undefined {
  if (context.stdin.isTTY !== true || context.stderr.isTTY !== true) return undefined;
  // Forms share the terminal, so each form waits until the previous one is closed.
  let last: Promise<unknown> = Promise.resolve();
  return (params) => {
    const answer = last.then(() => askForm(params, context, signal));
    last = answer.catch(() => {});
    return answer;
  };
}

/** Thrown when standard input ends. The form is then answered with `cancel`. */
class InputEndedError extends Error {}

async function askForm(
  { message, requestedSchema }: JsonObject,
  context: CliContext,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { out, stdin, stderr } = context;
  using _ = out.pauseProgress();
  // With `terminal: true`, readline would handle Ctrl-C itself.
  const lines = createInterface({ input: stdin, terminal: false });
  const reader = lines[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    out.question(question);
    // The cursor is after the question, so further output must start on a new line.
    const endLine = (): void => void stderr.write('\n');
    signal.addEventListener('abort', endLine, { once: true });
    const next = await reader.next();
    signal.removeEventListener('abort', endLine);
    if (next.done !== true) return next.value;
    endLine();
    throw new InputEndedError();
  };
  try {
    out.note(`The server asks: ${typeof message === 'string' ? sanitize(message) : ''}`);
    if (/^n/i.test((await ask('Answer? [Y/n]')).trim())) return { action: 'decline' };
    const content: Record<string, unknown> = {};
    for (const field of readFormFields(requestedSchema)) {
      const value = await askField(field, ask, context);
      if (value !== undefined) Object.defineProperty(content, field.key, { value, enumerable: true });
    }
    return { action: 'accept', content };
  } catch (error) {
    if (error instanceof InputEndedError) return { action: 'cancel' };
    throw error;
  } finally {
    lines.close();
  }
}

async function askField(
  field: FormField,
  ask: (question: string) => Promise<string>,
  { out }: CliContext,
): Promise<unknown> {
  const { label, choices, defaultValue, isRequired, type } = field;
  choices.forEach((choice, at) => out.note(`  ${at + 1}  ${choice.label}`));
  const hint = type === 'boolean' ? ' [yes/no]' : type === 'array' ? ' [separate several with commas]' : '';
  const suffix =
    defaultValue !== undefined ? ` (${JSON.stringify(defaultValue)})` : isRequired ? '' : ' (optional)';
  for (;;) {
    const answer = parseAnswer(field, await ask(sanitize(`${label}${hint}${suffix}:`)));
    if ('value' in answer) return answer.value;
    out.note(answer.problem);
  }
}
