/** A script in a form that the interpreter can run. */
export interface CompiledScript {
  readonly source: string;
  /** Whether the result is the value of the last expression; otherwise the source is a function body and returns the result. */
  readonly isScript: boolean;
}

export interface CompileError {
  readonly name: string;
  readonly message: string;
  readonly line?: number | undefined;
}

/** Returns the interpreter's syntax error for a source; undefined if the source is valid. */
type CheckSyntax = (source: string) => CompileError | undefined;

/** The wrapper starts on the first line of the script, so lines keep their numbers. */
const OPEN = '(async () => {';
const CLOSE = '\n})()';
/** Matches `call<Type>(…)`. As JavaScript it would be two comparisons, which no script wants. */
const TYPE_ARGUMENTS = /[\w$]<[^<>()=;]{1,200}>\(/;

/**
 * Returns valid JavaScript unchanged; strips TypeScript types from any other source. With `isExpression`, `{ a: 1 }` is an object rather
 * than a block.
 */
export async function compileScript(
  source: string,
  check: CheckSyntax,
  isExpression = false,
): Promise<CompiledScript | CompileError> {
  const expression = `(${source}\n)`;
  if (isExpression && check(expression) === undefined) return { source: expression, isScript: true };
  const first = TYPE_ARGUMENTS.test(source) ? undefined : asJavaScript(source, check);
  if (first !== undefined && !isCompileError(first)) return first;
  const { stripTypes } = await import('./strip-types.ts');
  const stripped = stripTypes(source);
  const second = isCompileError(stripped) ? stripped : asJavaScript(stripped.source, check);
  if (!isCompileError(second)) return second;
  return first === undefined ? second : laterError(first, second);
}

export function isCompileError(found: object): found is CompileError {
  return 'message' in found;
}

function asJavaScript(source: string, check: CheckSyntax): CompiledScript | CompileError {
  const script = check(source);
  if (script === undefined) return { source, isScript: true };
  // A `return` outside of a function is only valid in a function body.
  const body = `${OPEN}${source}${CLOSE}`;
  const wrapped = check(body);
  return wrapped === undefined ? { source: body, isScript: false } : laterError(script, wrapped);
}

/**
 * Returns the error that is further down in the source, because the form that parses further is probably the
 * intended one.
 */
function laterError(first: CompileError, second: CompileError): CompileError {
  return (second.line ?? 0) > (first.line ?? 0) ? second : first;
}
