import type { CliArgument, CliOption, CliStyle, CliValue } from './cli-command.ts';
import type { CliTool } from './cli-tools.ts';

/** Thrown if the arguments of a tool call do not form a command line; the message is for the model. */
export class InvalidArgumentsError extends Error {}

type ToolArguments = ReadonlyMap<string, unknown>;

const MAX_VALUES = 1_000;

/**
 * Builds the arguments of the program. A value can never become an option: it follows `=`, or does not start with a dash, or follows
 * `--` if the program is known to end its options there.
 */
export function buildArgv(tool: CliTool, args: Readonly<Record<string, unknown>>): readonly string[] {
  // The input is a map, because a plain object also has properties such as "constructor".
  const input = new Map(Object.entries(args));
  rejectUnknown(tool, input);
  const flags = tool.options.flatMap(([key, option]) => optionArgv(key, option, input.get(key), tool.style));
  const before = readPositional(tool, input, false);
  const after = readPositional(tool, input, true);
  const first = before[0] ?? after[0];
  if (first !== undefined && tool.children.includes(first)) {
    throw new InvalidArgumentsError(`"${shorten(first)}" is a subcommand and cannot be an argument here.`);
  }
  const mustEndOptions = before.some((value) => value.startsWith('-'));
  if (mustEndOptions && (!tool.style.dashes || after.length > 0)) {
    throw new InvalidArgumentsError(
      'An argument starts with "-", and this program could read it as an option.',
    );
  }
  const hasMultiValue = tool.options.some(
    ([key, { repeats }]) => repeats === 'values' && input.get(key) !== undefined,
  );
  // `--` is also added where a plain word could be misread: a program without subcommands may read its first word as bundled options, as
  // tar does, and an option with several values would take the arguments as further values.
  const isSaferWithDashes =
    before.length > 0 &&
    after.length === 0 &&
    tool.style.dashes &&
    (tool.words.length === 0 || hasMultiValue);
  const end = mustEndOptions || isSaferWithDashes ? ['--', ...before] : before;
  return [...tool.words, ...flags, ...end, ...(after.length > 0 ? ['--', ...after] : [])];
}

function rejectUnknown(tool: CliTool, input: ToolArguments): void {
  const known = new Set([...tool.options, ...tool.arguments].map(([key]) => key));
  const unknown = [...input.keys()].find((key) => !known.has(key));
  if (unknown === undefined) return;
  const names = [...known].slice(0, 40).join(', ');
  throw new InvalidArgumentsError(
    `Unknown parameter "${shorten(unknown)}". ${names === '' ? 'This tool has no parameters.' : `Known parameters: ${names}.`}`,
  );
}

function optionArgv(key: string, option: CliOption, input: unknown, style: CliStyle): readonly string[] {
  if (input === undefined || input === null) return [];
  const { flag, value, repeats } = option;
  if (value === undefined) return switchArgv(key, option, input, style);
  if (option.isOptional === true && (input === true || input === '')) return [flag];
  if (option.isOptional === true && input === false) return [];
  const values = toList(key, input, repeats !== undefined).map((item) => toText(key, item, value));
  if (repeats === 'values') {
    if (values.length === 0) return [];
    for (const item of values) rejectDash(key, item);
    return [flag, ...values];
  }
  return values.flatMap((item) => valueArgv(key, option, item, style));
}

function valueArgv(key: string, option: CliOption, value: string, style: CliStyle): readonly string[] {
  const { flag, takesEquals, isOptional, isGlued } = option;
  const isLong = flag.startsWith('--');
  if (isGlued === true) {
    // With an empty value only the flag would remain, and the program would read the next word as its value.
    if (value === '') throw new InvalidArgumentsError(`"${key}" must not be empty.`);
    return [`${flag}${value}`];
  }
  if (takesEquals === true || (isLong && style.equals)) return [`${flag}=${value}`];
  if (isOptional === true) {
    throw new InvalidArgumentsError(
      `"${key}" cannot have a value: the program would read it as an argument.`,
    );
  }
  rejectDash(key, value);
  return [flag, value];
}

function switchArgv(key: string, option: CliOption, input: unknown, style: CliStyle): readonly string[] {
  if (typeof input !== 'boolean') throw new InvalidArgumentsError(`"${key}" must be true or false.`);
  if (input) return [option.flag];
  if (option.off !== undefined) return [option.off];
  return style.explicitFalse && option.flag.startsWith('--') ? [`${option.flag}=false`] : [];
}

/** Returns the values of the positional arguments before or after `--`. An omitted argument must not precede a given one. */
function readPositional(tool: CliTool, input: ToolArguments, afterDashes: boolean): readonly string[] {
  const values: string[] = [];
  let missing: string | undefined;
  for (const [key, argument] of tool.arguments) {
    if (argument.afterDashes !== afterDashes) continue;
    const found = argumentValues(key, argument, input.get(key));
    if (found.length === 0) {
      if (argument.isRequired) throw new InvalidArgumentsError(`"${key}" is required.`);
      missing ??= key;
      continue;
    }
    if (missing !== undefined)
      throw new InvalidArgumentsError(`"${key}" also requires "${missing}", which precedes it.`);
    values.push(...found);
  }
  if (tool.style.responseFiles && values.some((value) => value.startsWith('@'))) {
    throw new InvalidArgumentsError(
      'An argument starts with "@", which this program reads as a file with options.',
    );
  }
  return values;
}

function argumentValues(key: string, { value, repeats }: CliArgument, input: unknown): readonly string[] {
  if (input === undefined || input === null) return [];
  return toList(key, input, repeats).map((item) => toText(key, item, value));
}

function toList(key: string, input: unknown, isList: boolean): readonly unknown[] {
  if (!isList && Array.isArray(input))
    throw new InvalidArgumentsError(`"${key}" must be one value, not a list.`);
  const values: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (values.length > MAX_VALUES)
    throw new InvalidArgumentsError(`"${key}" has more than ${MAX_VALUES} values.`);
  return values;
}

const TYPE_NAMES = { string: 'a string', integer: 'a whole number', number: 'a number' } as const;

function toText(key: string, input: unknown, { type, choices }: CliValue): string {
  const isScalar = typeof input === 'string' || typeof input === 'number' || typeof input === 'boolean';
  if (!isScalar) throw new InvalidArgumentsError(`"${key}" must be ${TYPE_NAMES[type]}.`);
  const value = String(input);
  if (value.includes('\0')) throw new InvalidArgumentsError(`"${key}" contains a NUL character.`);
  const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value);
  if (type !== 'string' && (!isNumber || (type === 'integer' && !/^-?\d+$/.test(value)))) {
    throw new InvalidArgumentsError(`"${key}" must be ${TYPE_NAMES[type]}.`);
  }
  if (choices?.includes(value) === false)
    throw new InvalidArgumentsError(`"${key}" must be one of ${choices.join(', ')}.`);
  return value;
}

/** Throws if a value that stands alone on the command line could be read as an option. */
function rejectDash(key: string, value: string): void {
  if (!value.startsWith('-')) return;
  throw new InvalidArgumentsError(
    `The value of "${key}" starts with "-", and this program could read it as an option.`,
  );
}

function shorten(value: string): string {
  return value.slice(0, 80);
}
