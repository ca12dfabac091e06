/** Checks whether a URI can be an expansion of a template (RFC 6570). */
export interface UriMatcher {
  /** Also returns false if the budget does not suffice for the comparison. */
  matches(uri: string, budget?: MatchBudget): boolean;
  /** The number of literal characters; of two matching templates, the one with more of them wins. */
  readonly literalLength: number;
}

/**
 * Limits the work of comparing URIs with templates, because servers write both: one result may contain many links, and each may be
 * compared with hundreds of templates. A step is one character compared with one part of a template and takes a few nanoseconds.
 */
export class MatchBudget {
  #steps: number;

  constructor(steps = 1_000_000) {
    this.#steps = steps;
  }

  get isSpent(): boolean {
    return this.#steps < 0;
  }

  /** Returns false if the budget does not suffice. */
  trySpend(steps: number): boolean {
    this.#steps -= steps;
    return this.#steps >= 0;
  }
}

interface Literal {
  readonly text: string;
}
/** An expression matches nothing, or `first` followed by any characters except `stops`. */
interface Expression {
  readonly first: string;
  readonly stops: string;
}
type Part = Literal | Expression;

const MAX_EXPRESSIONS = 32;
const MAX_URI_LENGTH = 8192;
const MAX_TEMPLATE_LENGTH = 8192;

/**
 * The characters that each operator matches. Like some servers, the rules accept more than the standard. A
 * false match is harmless: the gateway only chooses the upstream, and the upstream decides whether it knows
 * the URI.
 */
const OPERATORS: Readonly<Record<string, Expression>> = {
  '+': { first: '', stops: '' },
  '#': { first: '#', stops: '' },
  '.': { first: '.', stops: '/?#' },
  '/': { first: '/', stops: '?#' },
  ';': { first: ';', stops: '/?#' },
  '?': { first: '?', stops: '#' },
  '&': { first: '&', stops: '#' },
};
const SIMPLE_EXPRESSION: Expression = { first: '', stops: '/' };

/**
 * Returns a matcher that uses no regular expression: upstreams write the templates, and the time for `{a}x{b}x{c}x` as a regular
 * expression grows exponentially with the number of its expressions. Here every part takes one pass over the URI.
 */
export function createUriMatcher(template: string): UriMatcher {
  if (template.length > MAX_TEMPLATE_LENGTH) return UNUSABLE;
  const parts = parseTemplate(template);
  const expressions = parts.filter((part) => !('text' in part)).length;
  if (expressions > MAX_EXPRESSIONS) return UNUSABLE;
  const literalLength = parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0);
  const prefix = literalText(parts[0]);
  const suffix = literalText(parts.at(-1));
  return {
    literalLength,
    matches(uri, budget = new MatchBudget(Infinity)) {
      if (uri.length > MAX_URI_LENGTH || !budget.trySpend(1)) return false;
      // Most URIs differ from a template in its literal beginning or end, which is cheap to check.
      if (uri.length < literalLength || !uri.startsWith(prefix) || !uri.endsWith(suffix)) return false;
      return budget.trySpend(parts.length * uri.length) && matches(parts, uri);
    },
  };
}

const UNUSABLE: UriMatcher = { literalLength: 0, matches: () => false };

function literalText(part: Part | undefined): string {
  return part !== undefined && 'text' in part ? part.text : '';
}

/** Splits a template into literals and expressions; an expression that is not closed is literal text. */
function parseTemplate(template: string): readonly Part[] {
  const parts: Part[] = [];
  for (const piece of template.split(/(\{[^{}]*\})/)) {
    if (piece.startsWith('{') && piece.endsWith('}'))
      parts.push(OPERATORS[piece.charAt(1)] ?? SIMPLE_EXPRESSION);
    else if (piece !== '') parts.push({ text: piece });
  }
  return parts;
}

/** Tracks every position of the URI that the parts so far can reach, so no part is ever matched again (no backtracking). */
function matches(parts: readonly Part[], uri: string): boolean {
  let reached: Uint8Array | undefined = new Uint8Array(uri.length + 1);
  reached[0] = 1;
  for (const part of parts) {
    reached = 'text' in part ? matchLiteral(part.text, uri, reached) : matchExpression(part, uri, reached);
    if (reached === undefined) return false;
  }
  return reached[uri.length] === 1;
}

/** Returns the positions at which the next part may begin, marked with 1; undefined if there are none. */
function matchLiteral(text: string, uri: string, reached: Uint8Array): Uint8Array | undefined {
  const next = new Uint8Array(reached.length);
  let isAny = false;
  for (let at = uri.indexOf(text); at >= 0; at = uri.indexOf(text, at + 1)) {
    if (reached[at] !== 1) continue;
    next[at + text.length] = 1;
    isAny = true;
  }
  return isAny ? next : undefined;
}

/** Returns the positions at which the next part may begin, marked with 1. They include `reached`, because an expression may be empty. */
function matchExpression({ first, stops }: Expression, uri: string, reached: Uint8Array): Uint8Array {
  const next = reached.slice();
  // Whether an expansion that began earlier includes the character before `at`, so that it may end here.
  let isInside = false;
  for (let at = 0; at < uri.length; at++) {
    const canBegin = reached[at] === 1;
    if (isInside) next[at] = 1;
    const character = uri.charAt(at);
    const continues: boolean = isInside || (canBegin && first === '');
    isInside = (continues && !stops.includes(character)) || (canBegin && first === character);
  }
  if (isInside) next[uri.length] = 1;
  return next;
}
