/** Whether a URI can be an expansion of a template (RFC 6570). */
export interface UriMatcher {
  matches(uri: string): boolean;
  /** Characters that the template fixes: of two that match, the one with more of them is meant. */
  readonly fixed: number;
}

interface Text {
  readonly text: string;
}
/** An expression: nothing, or `first` and then any characters but `stops`. */
interface Open {
  readonly first: string;
  readonly stops: string;
}
type Part = Text | Open;

const MAX_EXPRESSIONS = 32;
const MAX_URI_LENGTH = 8192;

/**
 * What may follow for each operator. Wider than the standard where servers are: an upstream decides itself whether
 * it knows the URI, we only find out whom to ask.
 */
const OPERATORS: Readonly<Record<string, Open>> = {
  '+': { first: '', stops: '' },
  '#': { first: '#', stops: '' },
  '.': { first: '.', stops: '/?#' },
  '/': { first: '/', stops: '?#' },
  ';': { first: ';', stops: '/?#' },
  '?': { first: '?', stops: '#' },
  '&': { first: '&', stops: '#' },
};
const SIMPLE: Open = { first: '', stops: '/' };

/**
 * Not a regular expression: upstreams write templates, and `{a}x{b}x{c}x` as one takes time that grows with the power
 * of its expressions. Here every part is one pass over the URI.
 */
export function uriMatcher(template: string): UriMatcher {
  const parts = partsOf(template);
  const expressions = parts.filter((part) => !('text' in part)).length;
  const isUsable = expressions <= MAX_EXPRESSIONS;
  return {
    fixed: parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0),
    matches: (uri) => isUsable && uri.length <= MAX_URI_LENGTH && matches(parts, uri),
  };
}

/** An expression that is never closed is plain text. */
function partsOf(template: string): readonly Part[] {
  const parts: Part[] = [];
  for (const piece of template.split(/(\{[^{}]*\})/)) {
    if (piece.startsWith('{') && piece.endsWith('}')) parts.push(OPERATORS[piece.charAt(1)] ?? SIMPLE);
    else if (piece !== '') parts.push({ text: piece });
  }
  return parts;
}

function matches(parts: readonly Part[], uri: string): boolean {
  let reached: Uint8Array | undefined = new Uint8Array(uri.length + 1);
  reached[0] = 1;
  for (const part of parts) {
    reached = 'text' in part ? afterText(part.text, uri, reached) : afterOpen(part, uri, reached);
    if (reached === undefined) return false;
  }
  return reached[uri.length] === 1;
}

/** The positions at which the next part may begin; undefined where there are none. */
function afterText(text: string, uri: string, reached: Uint8Array): Uint8Array | undefined {
  const next = new Uint8Array(reached.length);
  let isAny = false;
  for (let at = uri.indexOf(text); at >= 0; at = uri.indexOf(text, at + 1)) {
    if (reached[at] !== 1) continue;
    next[at + text.length] = 1;
    isAny = true;
  }
  return isAny ? next : undefined;
}

function afterOpen({ first, stops }: Open, uri: string, reached: Uint8Array): Uint8Array {
  const next = reached.slice();
  let isInside = false;
  for (let at = 0; at < uri.length; at++) {
    const canBegin = reached[at] === 1;
    if (isInside) next[at] = 1;
    const character = uri.charAt(at);
    const goesOn: boolean = isInside || (canBegin && first === '');
    isInside = (goesOn && !stops.includes(character)) || (canBegin && first === character);
  }
  if (isInside) next[uri.length] = 1;
  return next;
}
