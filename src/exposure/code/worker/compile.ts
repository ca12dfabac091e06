/** A script in a form that the interpreter runs. */
export interface Compiled {
  readonly source: string;
  /** Whether the value of its last expression is the result; else it is a function body, and what it returns is. */
  readonly isScript: boolean;
}

export interface Mistake {
  readonly name: string;
  readonly message: string;
  readonly line?: number;
}

/** What is wrong with a source as the interpreter sees it; undefined when it can be run. */
type Check = (source: string) => Mistake | undefined;

/** In front of the first line, so that lines keep their numbers. */
const OPEN = '(async () => {';
const CLOSE = '\n})()';
/** `call<Type>(…)` is good JavaScript as well, though nobody means two comparisons. */
const TYPE_ARGUMENTS = /[\w$]<[^<>()=;]{1,200}>\(/;

/** Valid JavaScript stays as it is; types are stripped from what is not. */
export async function compile(source: string, check: Check): Promise<Compiled | Mistake> {
  const first = TYPE_ARGUMENTS.test(source) ? undefined : asJavaScript(source, check);
  if (first !== undefined && !isMistake(first)) return first;
  const { stripTypes } = await import('./strip-types.ts');
  const stripped = stripTypes(source);
  const second = isMistake(stripped) ? stripped : asJavaScript(stripped.source, check);
  if (!isMistake(second)) return second;
  return first === undefined ? second : further(first, second);
}

export function isMistake(found: object): found is Mistake {
  return 'message' in found;
}

function asJavaScript(source: string, check: Check): Compiled | Mistake {
  const script = check(source);
  if (script === undefined) return { source, isScript: true };
  // A `return` outside of functions is the sign of the other form.
  const body = `${OPEN}${source}${CLOSE}`;
  const wrapped = check(body);
  return wrapped === undefined ? { source: body, isScript: false } : further(script, wrapped);
}

/** Where two readings fail, the one that came further is the one that was meant. */
function further(first: Mistake, second: Mistake): Mistake {
  return (second.line ?? 0) > (first.line ?? 0) ? second : first;
}
