import type { CliOption, CliValue } from '../cli-command.ts';

const INTEGER = /^(?:int|integer|uint|u?int(?:8|16|32|64)|ints|num|number|count|n|port|usize)$/i;
const NUMBER = /^(?:float|double|decimal|float32|float64|real)$/i;
const BOOLEAN = /^(?:bool|boolean|true\|false)$/i;
const LIST = /^(?:list|map|strings|ints|stringarray|stringslice|stringtostring|intslice|filter|ulimit)$/i;
const CHOICE = /^[\w.+-]{1,40}$/;
const MAX_CHOICES = 60;

export type OptionShape = Pick<CliOption, 'value' | 'isOptional' | 'repeats'>;

/** What a placeholder such as `<N>`, `string`, `{a,b}` or `FILE [FILE ...]` says of an option's values. */
export function placeholderShape(placeholder: string): OptionShape | 'switch' {
  const text = placeholder.trim();
  if (text === '') return 'switch';
  // `--decorate[=...]` of git: something, and only once.
  if (text === '...') return { value: { type: 'string' } };
  const isOptional = /^\[[^\]]*\]$/.test(text) && !text.includes('|') && !/^\[\w+ \.\.\.\]$/.test(text);
  const several = /^(\S+) \[\1 ?\.\.\.\]$|^(\S+) \[\.\.\.\]$/.exec(text);
  const bare = text.replaceAll(/\.\.\.|[<>[\]()"']/g, '').trim();
  if (BOOLEAN.test(bare)) return 'switch';
  const value = valueOf(several?.[1] ?? text, bare);
  return {
    value,
    ...(isOptional && { isOptional }),
    ...(several !== null && { repeats: 'values' as const }),
    ...(several === null && (text.endsWith('...') || LIST.test(bare)) && { repeats: 'flags' as const }),
  };
}

function valueOf(text: string, bare: string): CliValue {
  const choices = choicesIn(text);
  if (choices !== undefined) return { type: 'string', choices };
  if (text.startsWith('[-]')) return { type: 'string' };
  if (INTEGER.test(bare)) return { type: 'integer' };
  return { type: NUMBER.test(bare) ? 'number' : 'string' };
}

/** `{a,b}`, `{a|b}`, `<a|b>`, `[a|b]`, `(a|b)`, `a|b`: words that stand for themselves, not for other things. */
export function choicesIn(text: string): readonly string[] | undefined {
  const inner = /^[{<[(]*([^{}<>[\]()]*)[}>\])]*(?:\.\.\.)?$/.exec(text)?.[1] ?? '';
  const parts = inner
    .split(text.startsWith('{') && !inner.includes('|') ? ',' : '|')
    .map((one) => one.trim());
  const areWords = parts.length > 1 && parts.length <= MAX_CHOICES && parts.every((one) => CHOICE.test(one));
  // Capitals stand for something: `<KEY|PATH>`.
  return areWords && !parts.every((one) => /^[A-Z][A-Z0-9_]*$/.test(one)) ? parts : undefined;
}

/** `--flag=DEFAULT:` as kubectl has it: the default tells the type. */
export function defaultShape(value: string): OptionShape | 'switch' {
  if (value === 'true' || value === 'false') return 'switch';
  if (value === '[]') return { value: { type: 'string' }, repeats: 'flags' };
  if (/^-?\d+$/.test(value)) return { value: { type: 'integer' } };
  return { value: { type: /^-?\d+\.\d+$/.test(value) ? 'number' : 'string' } };
}

const LISTED = [
  /\[possible values: ([^\]]{1,800})\]/i,
  /\bpossible values: ([\w.+-]+(?:, [\w.+-]+)+)/i,
  /\bmust be ((?:["'][\w.+-]+["'],? (?:or )?)+["'][\w.+-]+["'])/i,
  /\[choices: ([^\]]{1,800})\]/i,
];

/** What a description adds: the allowed values, and that an option can be repeated. */
export function describedShape(shape: OptionShape, description: string): OptionShape {
  const { value } = shape;
  if (value === undefined) return shape;
  const repeats =
    shape.repeats ??
    (/multiple\s+times|repeatable|\[multiple\]|more\s+than\s+once|(?:can|may)\s+be\s+repeated/i.test(
      description,
    )
      ? 'flags'
      : undefined);
  const choices = value.choices ?? describedChoices(description);
  return {
    ...shape,
    value: choices === undefined ? value : { type: 'string', choices },
    ...(repeats !== undefined && { repeats }),
  };
}

function describedChoices(description: string): readonly string[] | undefined {
  const braces = /\{([\w.+-]+(?:\|[\w.+-]+)+)\}/.exec(description)?.[0];
  if (braces !== undefined) return choicesIn(braces);
  for (const pattern of LISTED) {
    const listed = pattern.exec(description)?.[1];
    const words = listed?.split(/,\s*(?:or )?|\s+or\s+|\s/).map((one) => one.replaceAll(/["']/g, ''));
    const choices = words?.filter((one) => one !== '');
    if (choices?.every((one) => CHOICE.test(one)) === true && choices.length > 1) return choices;
  }
  const bullets = /Possible values:\s*((?:- [\w.+-]+(?::[^\n]*)?(?:\n|$)\s*)+)/i.exec(description)?.[1];
  const names = [...(bullets ?? '').matchAll(/^\s*- ([\w.+-]+)/gm)].map(([, name = '']) => name);
  return names.length > 1 ? names : undefined;
}
