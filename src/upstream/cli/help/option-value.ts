import type { CliOption, CliValue } from '../cli-command.ts';

const INTEGER = /^(?:int|integer|uint|u?int(?:8|16|32|64)|ints|num|number|count|n|port|usize)$/i;
const NUMBER = /^(?:float|double|decimal|float32|float64|real)$/i;
const BOOLEAN = /^(?:bool|boolean|true\|false)$/i;
const LIST = /^(?:list|map|strings|ints|stringarray|stringslice|stringtostring|intslice|filter|ulimit)$/i;
const CHOICE = /^[\w.+-]{1,40}$/;
const MAX_CHOICES = 60;

export type OptionShape = Pick<CliOption, 'value' | 'isOptional' | 'repeats'>;

/** Returns the values that a placeholder such as `<N>`, `string`, `{a,b}` or `FILE [FILE ...]` describes. */
export function shapeOfPlaceholder(placeholder: string): OptionShape | 'switch' {
  const text = placeholder.trim();
  if (text === '') return 'switch';
  // `--decorate[=...]` of git takes one value of any kind.
  if (text === '...') return { value: { type: 'string' } };
  const isOptional = /^\[[^\]]*\]$/.test(text) && !text.includes('|') && !/^\[\w+ \.\.\.\]$/.test(text);
  const several = /^(\S+) \[\1 ?\.\.\.\]$|^(\S+) \[\.\.\.\]$/.exec(text);
  const bare = text.replaceAll(/\.\.\.|[<>[\]()"']/g, '').trim();
  if (BOOLEAN.test(bare)) return 'switch';
  const value = parseValue(several?.[1] ?? text, bare);
  const isList = text.endsWith('...') || LIST.test(bare);
  return {
    value,
    isOptional: isOptional ? true : undefined,
    repeats: several === null ? (isList ? 'flags' : undefined) : 'values',
  };
}

function parseValue(text: string, bare: string): CliValue {
  const choices = parseChoices(text);
  if (choices !== undefined) return { type: 'string', choices };
  if (text.startsWith('[-]')) return { type: 'string' };
  if (INTEGER.test(bare)) return { type: 'integer' };
  return { type: NUMBER.test(bare) ? 'number' : 'string' };
}

/** Parses literal choices: `{a,b}`, `{a|b}`, `<a|b>`, `[a|b]`, `(a|b)` or `a|b`. Returns undefined for placeholders. */
export function parseChoices(text: string): readonly string[] | undefined {
  const inner = /^[{<[(]*([^{}<>[\]()]*)[}>\])]*(?:\.\.\.)?$/.exec(text)?.[1] ?? '';
  const parts = inner
    .split(text.startsWith('{') && !inner.includes('|') ? ',' : '|')
    .map((part) => part.trim());
  const areWords =
    parts.length > 1 && parts.length <= MAX_CHOICES && parts.every((part) => CHOICE.test(part));
  // Words in capitals are placeholders, as in `<KEY|PATH>`.
  return areWords && !parts.every((part) => /^[A-Z][A-Z0-9_]*$/.test(part)) ? parts : undefined;
}

/** Returns the values of `--flag=DEFAULT:`, as kubectl writes it: the default reveals the type. */
export function shapeOfDefault(value: string): OptionShape | 'switch' {
  if (value === 'true' || value === 'false') return 'switch';
  if (value === '[]') return { value: { type: 'string' }, repeats: 'flags' };
  if (/^-?\d+$/.test(value)) return { value: { type: 'integer' } };
  return { value: { type: /^-?\d+\.\d+$/.test(value) ? 'number' : 'string' } };
}

const CHOICE_LISTS = [
  /\[possible values: ([^\]]{1,800})\]/i,
  /\bpossible values: ([\w.+-]+(?:, [\w.+-]+)+)/i,
  /\bmust be ((?:["'][\w.+-]+["'],? (?:or )?)+["'][\w.+-]+["'])/i,
  /\[choices: ([^\]]{1,800})\]/i,
];

/** Adds what the description says: the allowed values, and whether the option can be repeated. */
export function refineShape(shape: OptionShape, description: string): OptionShape {
  const { value } = shape;
  if (value === undefined) return shape;
  const repeats =
    shape.repeats ??
    (/multiple\s+times|repeatable|\[multiple\]|more\s+than\s+once|(?:can|may)\s+be\s+repeated/i.test(
      description,
    )
      ? 'flags'
      : undefined);
  const choices = value.choices ?? findChoices(description);
  return {
    ...shape,
    value: choices === undefined ? value : { type: 'string', choices },
    repeats,
  };
}

function findChoices(description: string): readonly string[] | undefined {
  const braces = /\{([\w.+-]+(?:\|[\w.+-]+)+)\}/.exec(description)?.[0];
  if (braces !== undefined) return parseChoices(braces);
  for (const pattern of CHOICE_LISTS) {
    const listed = pattern.exec(description)?.[1];
    const words = listed?.split(/,\s*(?:or )?|\s+or\s+|\s/).map((word) => word.replaceAll(/["']/g, ''));
    const choices = words?.filter((word) => word !== '');
    if (choices?.every((choice) => CHOICE.test(choice)) === true && choices.length > 1) return choices;
  }
  const bullets = /Possible values:\s*((?:- [\w.+-]+(?::[^\n]*)?(?:\n|$)\s*)+)/i.exec(description)?.[1];
  const names = [...(bullets ?? '').matchAll(/^\s*- ([\w.+-]+)/gm)].map(([, name = '']) => name);
  return names.length > 1 ? names : undefined;
}
