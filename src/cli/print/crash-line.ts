import { GUARD_URL_PARAMETER } from '../../core/guard-url-parameter.ts';
import { REDACTED, redactText } from '../../observability/audit/redact.ts';

/** The minimum length of a redacted value, in characters. Shorter values are common words, which would be redacted everywhere. */
const MIN_SECRET = 8;
/** The maximum length of the error message, in characters. */
const MAX_REASON = 500;
const MAX_FRAMES = 20;
/** Variables that hold no secrets and whose values are needed to read a stack trace. */
const HARMLESS_VARIABLE =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|LANG|LC_\w+|TERM|TMPDIR|_|XDG_\w+|npm_\w+|NODE_\w+)$/;

/** Matches stack frames of Node and frames without a file. */
const FRAME_WITHOUT_FILE = /[( ]node:|<anonymous>/;

/**
 * Whether a guard that the user wrote failed outside of its call, for example with a promise that it did not await. The first stack frame
 * with a file then belongs to a guard, whose URL contains `GUARD_URL_PARAMETER`.
 */
export function isGuardError(error: unknown): boolean {
  const frames = readFrames(error instanceof Error ? readErrorFields(error).stack : '');
  return frames.find((line) => !FRAME_WITHOUT_FILE.test(line))?.includes(`?${GUARD_URL_PARAMETER}=`) === true;
}

/** Formats the log line for a crash. Node would print all properties of the error, which may hold secrets. */
export function formatCrashLine(
  error: unknown,
  { env, now }: { readonly env: Readonly<Record<string, string | undefined>>; readonly now: Date },
): string {
  const { name, message, stack, code } =
    error instanceof Error ? readErrorFields(error) : { ...NOTHING, message: String(error) };
  const frames = readFrames(stack);
  return `${JSON.stringify({
    time: now.toISOString(),
    level: 'error',
    message: isGuardError(error)
      ? 'A guard failed outside of any call.'
      : 'The program ends because of an internal error.',
    error: name,
    code,
    reason: truncateReason(redactEnvironment(message, env)),
    at: frames.slice(0, MAX_FRAMES).map((line) => redactEnvironment(line.trim(), env)),
  })}\n`;
}

function readFrames(stack: string): readonly string[] {
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}

const NOTHING = { name: 'unknown', stack: '', code: undefined };

function readErrorFields(error: Error & { readonly code?: unknown }): {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code: string | undefined;
} {
  const { name, message, stack = '', code } = error;
  return { name, message, stack, code: typeof code === 'string' ? code : undefined };
}

/** Redacts the values of environment variables, which may have entered the text through references. */
function redactEnvironment(text: string, env: Readonly<Record<string, string | undefined>>): string {
  let out = text;
  for (const [name, value = ''] of Object.entries(env))
    if (value.length >= MIN_SECRET && !HARMLESS_VARIABLE.test(name)) out = out.replaceAll(value, REDACTED);
  return redactText(out);
}

function truncateReason(text: string): string {
  return text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON)}…`;
}
