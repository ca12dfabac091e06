import { defaultShape, placeholderShape } from './option-value.ts';
import type { OptionShape } from './option-value.ts';

/** The left side of a line in a list of options, and what follows it. */
export interface OptionSpec {
  /** All spellings, as written. */
  readonly flags: readonly string[];
  readonly shape: OptionShape | 'switch';
  readonly takesEquals: boolean;
  /** `-n<value>`, without anything between. */
  readonly isGlued: boolean;
  /** The default of a switch is to be on, or the text shows how to switch it off. */
  readonly isNegatable: boolean;
  readonly rest: string;
}

const FLAG = /^(?:--\[no-?\]|--?)[A-Za-z0-9?#][\w.+-]*/;
const SEPARATOR = /^(?:,\s*|\s*\|\s*|\s+\/\s+|\s+or\s+)(?=-)/;
/** `-a  --text    treat all files as text` of git. */
const GAP = /^ {1,2}(?=--[a-z][\w-]+(?: {2,}|$))/;
/** `("one")` of psql. */
const REMARK = /^\s*\("[^"]*"\)/;
const WRAPPED = /^(?:<[^>]*>|\[<[^>]*>\]|\{[^}]*\}|\([^)]*\)|\[[^\]-][^\]]*\]|"[^"]*"|'[^']*')(?:\.\.\.)?/;
const WORDS = /^(?:string|strings|list|map|int|ints|uint\d*|float\d*|bytes|duration|file|path|ip|port)$/i;

/** Reads `-o, --output=FORMAT  text`, `--all`, `-n NUM`, `--state {a|b}`, `--watch=false:`; undefined where no option begins. */
export function readOptionSpec(text: string): OptionSpec | undefined {
  const flags: string[] = [];
  let at = text;
  let shape: OptionShape | 'switch' = 'switch';
  let takesEquals = false;
  let isGlued = false;
  let isNegatable = false;
  for (let turn = 0; turn < 8; turn++) {
    const [flag] = FLAG.exec(at) ?? [];
    if (flag === undefined) break;
    if (flag.startsWith('--[no')) isNegatable = true;
    flags.push(flag.replace(/\[no-?\]/, '').replace(/[.,]+$/, ''));
    at = at.slice(flag.replace(/[.,]+$/, '').length).replace(REMARK, '');
    const glued = /^-\w$/.test(flag) ? gluedValue(at) : undefined;
    const value = glued ?? readValue(at);
    isGlued ||= glued !== undefined;
    at = value.rest;
    if (value.shape !== 'switch') shape = value.shape;
    takesEquals ||= value.takesEquals;
    isNegatable ||= value.isNegatable;
    const [separator] = SEPARATOR.exec(at) ?? (/^-\w$/.test(flag) ? GAP.exec(at) : null) ?? [];
    if (separator === undefined) break;
    at = at.slice(separator.length);
  }
  if (flags.length === 0) return undefined;
  // How the long name takes its value says nothing of the short one.
  isGlued &&= !flags.some((flag) => flag.startsWith('--'));
  return { flags, shape, takesEquals, isGlued, isNegatable, rest: at.trim().replace(/^:(?:\s+|$)/, '') };
}

interface ReadValue extends Pick<OptionSpec, 'shape' | 'takesEquals' | 'isNegatable' | 'rest'> {}

/** `<n>` or `[<n>]` right behind a short flag, as in `-U<n>` and `-M[<n>]` of git. */
function gluedValue(text: string): ReadValue | undefined {
  const [whole, optional, needed] = /^(?:\[(<[^<>]+>)\]|(<[^<>]+>))(?=\s|,|\]|$)/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const shape = placeholderShape(optional ?? needed ?? '');
  if (shape === 'switch') return undefined;
  return {
    shape: optional === undefined ? shape : { ...shape, isOptional: true },
    takesEquals: false,
    isNegatable: false,
    rest: text.slice(whole.length),
  };
}

function readValue(text: string): ReadValue {
  const none = { shape: 'switch', takesEquals: false, isNegatable: false } as const;
  const [counted] = /^\.\.\.(?=\s|$)/.exec(text) ?? [];
  if (counted !== undefined) return { ...none, rest: text.slice(3) };
  const [optional, inner = ''] =
    /^\[=?((?:[^[\]]|\[(?:[^[\]]|\[[^[\]]*\])*\])*)\](?:\.\.\.)?/.exec(text) ?? [];
  if (optional !== undefined) {
    // `<n>[/<m>]`: what can be left out of it as well is part of the text.
    const shape = placeholderShape(inner.replace(/\[.*$/s, ''));
    const rest = text.slice(optional.length);
    if (shape === 'switch') return { ...none, isNegatable: true, rest };
    return { ...none, shape: { ...shape, isOptional: true }, takesEquals: true, rest };
  }
  if (text.startsWith('=')) return equalsValue(text.slice(1));
  if (!/^ \S/.test(text)) return { ...none, rest: text };
  const [wrapped] = WRAPPED.exec(text.slice(1)) ?? [];
  if (wrapped !== undefined) {
    const more = /^ \[\S+ ?\.\.\.\]/.exec(text.slice(1 + wrapped.length))?.[0] ?? '';
    const shape = placeholderShape(wrapped + more);
    return { ...none, shape, rest: text.slice(1 + wrapped.length + more.length) };
  }
  return wordValue(text);
}

function equalsValue(text: string): ReadValue {
  const [whole = '', quoted] = /^(?:('[^']*'|"[^"]*")|<[^>]*>|\[[^\]]*\]|[^\s,\]]+)*/.exec(text) ?? [];
  const isDefault = whole.endsWith(':') || text.slice(whole.length).startsWith(':');
  const bare = whole.replace(/:$/, '');
  if (isDefault) {
    const shape = quoted === undefined ? defaultShape(bare) : ({ value: { type: 'string' } } as const);
    return { shape, takesEquals: true, isNegatable: shape === 'switch', rest: text.slice(whole.length) };
  }
  const shape = placeholderShape(bare === '' ? 'VALUE' : bare);
  return { shape, takesEquals: true, isNegatable: shape === 'switch', rest: text.slice(whole.length) };
}

/** ` FILE`, ` string`, ` X [X ...]`, ` a v` up to the gap before the description. */
function wordValue(text: string): ReadValue {
  const none = { shape: 'switch', takesEquals: false, isNegatable: false } as const;
  // `-c cmd : program passed in as string` of Python.
  const [before, name = ''] = /^ ([a-z][\w-]*) +(?=: \S)/.exec(text) ?? [];
  if (before !== undefined)
    return { ...none, shape: placeholderShape(name), rest: text.slice(before.length) };
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
  const areSeveral = words.length > 1 && !/\.\.\.|\brange\b/i.test(chunk);
  const shape = areSeveral
    ? ({ value: { type: 'string' }, repeats: 'values' } as const)
    : placeholderShape(chunk);
  return { ...none, shape, rest };
}
