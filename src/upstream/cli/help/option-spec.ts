import { shapeOfDefault, shapeOfPlaceholder } from './option-value.ts';
import type { OptionShape } from './option-value.ts';

/** One entry of an option list: its flags, its value, and the rest of the line. */
export interface OptionSpec {
  /** All names of the option, as written. */
  readonly flags: readonly string[];
  readonly shape: OptionShape | 'switch';
  readonly takesEquals: boolean;
  /** Whether the value follows the flag directly: `-n<value>`. */
  readonly isGlued: boolean;
  /** Whether the text shows that a switch can be turned off. */
  readonly isNegatable: boolean;
  readonly rest: string;
}

const FLAG = /^(?:--\[no-?\]|--?)[A-Za-z0-9?#][\w.+-]*/;
const SEPARATOR = /^(?:,\s*|\s*\|\s*|\s+\/\s+|\s+or\s+)(?=-)/;
/** The gap in `-a  --text    treat all files as text` of git. */
const GAP = /^ {1,2}(?=--[a-z][\w-]+(?: {2,}|$))/;
/** A remark such as `("one")` of psql. */
const REMARK = /^\s*\("[^"]*"\)/;
const WRAPPED = /^(?:<[^>]*>|\[<[^>]*>\]|\{[^}]*\}|\([^)]*\)|\[[^\]-][^\]]*\]|"[^"]*"|'[^']*')(?:\.\.\.)?/;
const WORDS = /^(?:string|strings|list|map|int|ints|uint\d*|float\d*|bytes|duration|file|path|ip|port)$/i;

/** Reads `-o, --output=FORMAT  text`, `--all`, `-n NUM`, `--state {a|b}`, `--watch=false:`; returns undefined if no option starts here. */
export function readOptionSpec(text: string): OptionSpec | undefined {
  const flags: string[] = [];
  let remaining = text;
  let shape: OptionShape | 'switch' = 'switch';
  let takesEquals = false;
  let isGlued = false;
  let isNegatable = false;
  for (let count = 0; count < 8; count++) {
    const [flag] = FLAG.exec(remaining) ?? [];
    if (flag === undefined) break;
    if (flag.startsWith('--[no')) isNegatable = true;
    flags.push(flag.replace(/\[no-?\]/, '').replace(/[.,]+$/, ''));
    remaining = remaining.slice(flag.replace(/[.,]+$/, '').length).replace(REMARK, '');
    const glued = /^-\w$/.test(flag) ? readGluedValue(remaining) : undefined;
    const value = glued ?? readValue(remaining);
    isGlued ||= glued !== undefined;
    remaining = value.rest;
    if (value.shape !== 'switch') shape = value.shape;
    takesEquals ||= value.takesEquals;
    isNegatable ||= value.isNegatable;
    const [separator] = SEPARATOR.exec(remaining) ?? (/^-\w$/.test(flag) ? GAP.exec(remaining) : null) ?? [];
    if (separator === undefined) break;
    remaining = remaining.slice(separator.length);
  }
  if (flags.length === 0) return undefined;
  // If there is a long flag, the option is written with it, so the syntax of the short flag does not matter.
  isGlued &&= !flags.some((flag) => flag.startsWith('--'));
  return {
    flags,
    shape,
    takesEquals,
    isGlued,
    isNegatable,
    rest: remaining.trim().replace(/^:(?:\s+|$)/, ''),
  };
}

interface OptionValueSpec extends Pick<OptionSpec, 'shape' | 'takesEquals' | 'isNegatable' | 'rest'> {}

/** Reads `<n>` or `[<n>]` directly after a short flag, as in `-U<n>` and `-M[<n>]` of git. */
function readGluedValue(text: string): OptionValueSpec | undefined {
  const [match, optional, required] = /^(?:\[(<[^<>]+>)\]|(<[^<>]+>))(?=\s|,|\]|$)/.exec(text) ?? [];
  if (match === undefined) return undefined;
  const shape = shapeOfPlaceholder(optional ?? required ?? '');
  if (shape === 'switch') return undefined;
  return {
    shape: optional === undefined ? shape : { ...shape, isOptional: true },
    takesEquals: false,
    isNegatable: false,
    rest: text.slice(match.length),
  };
}

function readValue(text: string): OptionValueSpec {
  const none = { shape: 'switch', takesEquals: false, isNegatable: false } as const;
  // `-v...` of clap counts how often a switch is given.
  const [counted] = /^\.\.\.(?=\s|$)/.exec(text) ?? [];
  if (counted !== undefined) return { ...none, rest: text.slice(3) };
  const [optional, inner = ''] =
    /^\[=?((?:[^[\]]|\[(?:[^[\]]|\[[^[\]]*\])*\])*)\](?:\.\.\.)?/.exec(text) ?? [];
  if (optional !== undefined) {
    // In `<n>[/<m>]` the optional part belongs to the value.
    const shape = shapeOfPlaceholder(inner.replace(/\[.*$/s, ''));
    const rest = text.slice(optional.length);
    if (shape === 'switch') return { ...none, isNegatable: true, rest };
    return { ...none, shape: { ...shape, isOptional: true }, takesEquals: true, rest };
  }
  if (text.startsWith('=')) return readEqualsValue(text.slice(1));
  if (!/^ \S/.test(text)) return { ...none, rest: text };
  const [wrapped] = WRAPPED.exec(text.slice(1)) ?? [];
  if (wrapped !== undefined) {
    const more = /^ \[\S+ ?\.\.\.\]/.exec(text.slice(1 + wrapped.length))?.[0] ?? '';
    const shape = shapeOfPlaceholder(wrapped + more);
    return { ...none, shape, rest: text.slice(1 + wrapped.length + more.length) };
  }
  return readWordValue(text);
}

function readEqualsValue(text: string): OptionValueSpec {
  const [whole = '', quoted] = /^(?:('[^']*'|"[^"]*")|<[^>]*>|\[[^\]]*\]|[^\s,\]]+)*/.exec(text) ?? [];
  const isDefault = whole.endsWith(':') || text.slice(whole.length).startsWith(':');
  const bare = whole.replace(/:$/, '');
  if (isDefault) {
    const shape = quoted === undefined ? shapeOfDefault(bare) : ({ value: { type: 'string' } } as const);
    return { shape, takesEquals: true, isNegatable: shape === 'switch', rest: text.slice(whole.length) };
  }
  const shape = shapeOfPlaceholder(bare === '' ? 'VALUE' : bare);
  return { shape, takesEquals: true, isNegatable: shape === 'switch', rest: text.slice(whole.length) };
}

/** Reads ` FILE`, ` string`, ` X [X ...]` or ` a v` up to the gap before the description. */
function readWordValue(text: string): OptionValueSpec {
  const none = { shape: 'switch', takesEquals: false, isNegatable: false } as const;
  // Python writes `-c cmd : program passed in as string`.
  const [before, name = ''] = /^ ([a-z][\w-]*) +(?=: \S)/.exec(text) ?? [];
  if (before !== undefined)
    return { ...none, shape: shapeOfPlaceholder(name), rest: text.slice(before.length) };
  const chunk = /^ ((?:\S| (?! ))*?)(?= {2,}|$|, -| \| -)/.exec(text)?.[1] ?? '';
  if (chunk === '' || chunk.length > 60 || chunk.startsWith('-')) return { ...none, rest: text };
  const rest = text.slice(1 + chunk.length);
  const words = chunk.split(' ');
  const isPlaceholder =
    words.every(
      (word) => /^[[<({]?[A-Z0-9][\w.:|=/-]*[\]>)}]?(?:\.\.\.)?\]?$/.test(word) || word === '...]',
    ) ||
    (words.length === 1 && (rest !== '' || WORDS.test(chunk))) ||
    (words.length <= 2 && words.every((word) => word.length <= 2) && rest !== '');
  if (!isPlaceholder) return { ...none, rest: text };
  const isMultiValue = words.length > 1 && !/\.\.\.|\brange\b/i.test(chunk);
  const shape = isMultiValue
    ? ({ value: { type: 'string' }, repeats: 'values' } as const)
    : shapeOfPlaceholder(chunk);
  return { ...none, shape, rest };
}
