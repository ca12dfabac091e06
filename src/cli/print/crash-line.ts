import { GUARD_MARK } from '../../model/guard-mark.ts';
import { REDACTED, redactText } from '../../observe/audit/redact.ts';

/** Shorter values are words that stand everywhere. */
const MIN_SECRET = 8;
const MAX_REASON = 500;
const MAX_FRAMES = 20;
/** Of no interest to anybody, and needed to read where it happened. */
const PLAIN =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|LANG|LC_\w+|TERM|TMPDIR|_|XDG_\w+|npm_\w+|NODE_\w+)$/;

/** A frame of Node itself, or of what has no place. */
const OF_NO_FILE = /[( ]node:|<anonymous>/;

/** Whether a guard of the person's own failed outside of its call, as with a promise that it did not wait for. */
export function isOfGuard(error: unknown): boolean {
  const frames = framesOf(error instanceof Error ? known(error).stack : '');
  return frames.find((line) => !OF_NO_FILE.test(line))?.includes(`?${GUARD_MARK}=`) === true;
}

/** The line that says why the program ended. Node would print the error with everything that hangs on it. */
export function crashLine(
  error: unknown,
  { env, now }: { readonly env: Readonly<Record<string, string | undefined>>; readonly now: Date },
): string {
  const { name, message, stack, code } =
    error instanceof Error ? known(error) : { ...NOTHING, message: String(error) };
  const frames = framesOf(stack);
  const said = isOfGuard(error) ? 'A guard failed outside of any call.' : 'The program failed and ends.';
  return `${JSON.stringify({
    ...{ time: now.toISOString(), level: 'error', message: said },
    ...{ error: name, ...(code !== undefined && { code }) },
    reason: cut(without(message, env)),
    at: frames.slice(0, MAX_FRAMES).map((line) => without(line.trim(), env)),
  })}\n`;
}

function framesOf(stack: string): readonly string[] {
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}

const NOTHING = { name: 'unknown', stack: '', code: undefined };

function known(error: Error & { readonly code?: unknown }): {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code: string | undefined;
} {
  const { name, message, stack = '', code } = error;
  return { name, message, stack, code: typeof code === 'string' ? code : undefined };
}

/** What a reference to a variable may have revealed is known here by its value. */
function without(text: string, env: Readonly<Record<string, string | undefined>>): string {
  let out = text;
  for (const [name, value = ''] of Object.entries(env))
    if (value.length >= MIN_SECRET && !PLAIN.test(name)) out = out.replaceAll(value, REDACTED);
  return redactText(out);
}

function cut(text: string): string {
  return text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON)}…`;
}
