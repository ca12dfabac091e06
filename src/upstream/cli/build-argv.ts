import type { CliArgument, CliOption, CliStyle, CliValue } from './cli-command.ts';
import type { CliTool } from './tool-of-command.ts';

/** Why no command line can be made; for whoever gave the values. */
export class UnfitArguments extends Error {}

type Given = ReadonlyMap<string, unknown>;

const MAX_VALUES = 1_000;

/**
 * The arguments of the program. A value never becomes an option: it is written behind `=`, or does not begin with a dash, or stands
 * behind `--` where that is known to end the options.
 */
export function buildArgv(tool: CliTool, args: Readonly<Record<string, unknown>>): readonly string[] {
  // A plain object also answers to names such as "constructor".
  const given = new Map(Object.entries(args));
  refuseUnknown(tool, given);
  const flags = tool.options.flatMap(([key, option]) => optionArgv(key, option, given.get(key), tool.style));
  const before = positional(tool, given, false);
  const after = positional(tool, given, true);
  const first = before[0] ?? after[0];
  if (first !== undefined && tool.children.includes(first)) {
    throw new UnfitArguments(`"${shown(first)}" is a command of its own and cannot be an argument here.`);
  }
  const mustEnd = before.some((value) => value.startsWith('-'));
  if (mustEnd && (!tool.style.dashes || after.length > 0)) {
    throw new UnfitArguments('An argument begins with "-", and this program could take it for an option.');
  }
  const hasSeveral = tool.options.some(
    ([key, { repeats }]) => repeats === 'values' && given.get(key) !== undefined,
  );
  // A program of one command may read its very first word as bundled options, as tar does.
  const isSafer =
    before.length > 0 && after.length === 0 && tool.style.dashes && (tool.words.length === 0 || hasSeveral);
  const end = mustEnd || isSafer ? ['--', ...before] : before;
  return [...tool.words, ...flags, ...end, ...(after.length > 0 ? ['--', ...after] : [])];
}

function refuseUnknown(tool: CliTool, given: Given): void {
  const known = new Set([...tool.options, ...tool.arguments].map(([key]) => key));
  const stranger = [...given.keys()].find((key) => !known.has(key));
  if (stranger === undefined) return;
  const names = [...known].slice(0, 40).join(', ');
  throw new UnfitArguments(
    `There is no parameter "${shown(stranger)}"; ${names === '' ? 'there are none' : `there are ${names}`}.`,
  );
}

function optionArgv(key: string, option: CliOption, given: unknown, style: CliStyle): readonly string[] {
  if (given === undefined || given === null) return [];
  const { flag, value, repeats } = option;
  if (value === undefined) return switchArgv(key, option, given, style);
  if (option.isOptional === true && (given === true || given === '')) return [flag];
  if (option.isOptional === true && given === false) return [];
  const values = listOf(key, given, repeats !== undefined).map((one) => text(key, one, value));
  if (repeats === 'values') {
    if (values.length === 0) return [];
    for (const one of values) refuseDash(key, one);
    return [flag, ...values];
  }
  return values.flatMap((one) => valueArgv(key, option, one, style));
}

function valueArgv(key: string, option: CliOption, value: string, style: CliStyle): readonly string[] {
  const { flag, takesEquals, isOptional, isGlued } = option;
  const isLong = flag.startsWith('--');
  if (isGlued === true) {
    // The flag alone would take what comes next for its value.
    if (value === '') throw new UnfitArguments(`"${key}" must not be empty.`);
    return [`${flag}${value}`];
  }
  if (takesEquals === true || (isLong && style.equals)) return [`${flag}=${value}`];
  if (isOptional === true) {
    throw new UnfitArguments(
      `"${key}" cannot be given a value safely: the program would take it for an argument.`,
    );
  }
  refuseDash(key, value);
  return [flag, value];
}

function switchArgv(key: string, option: CliOption, given: unknown, style: CliStyle): readonly string[] {
  if (typeof given !== 'boolean') throw new UnfitArguments(`"${key}" must be true or false.`);
  if (given) return [option.flag];
  if (option.off !== undefined) return [option.off];
  return style.explicitFalse && option.flag.startsWith('--') ? [`${option.flag}=false`] : [];
}

function positional(tool: CliTool, given: Given, afterDashes: boolean): readonly string[] {
  const values: string[] = [];
  let missing: string | undefined;
  for (const [key, argument] of tool.arguments) {
    if (argument.afterDashes !== afterDashes) continue;
    const own = argumentValues(key, argument, given.get(key));
    if (own.length === 0) {
      if (argument.isRequired) throw new UnfitArguments(`"${key}" is needed.`);
      missing ??= key;
      continue;
    }
    if (missing !== undefined) throw new UnfitArguments(`"${key}" needs "${missing}" before it.`);
    values.push(...own);
  }
  if (tool.style.responseFiles && values.some((value) => value.startsWith('@'))) {
    throw new UnfitArguments('An argument begins with "@", which this program reads as a file with options.');
  }
  return values;
}

function argumentValues(key: string, { value, repeats }: CliArgument, given: unknown): readonly string[] {
  if (given === undefined || given === null) return [];
  return listOf(key, given, repeats).map((one) => text(key, one, value));
}

function listOf(key: string, given: unknown, isList: boolean): readonly unknown[] {
  if (!isList && Array.isArray(given)) throw new UnfitArguments(`"${key}" must be one value, not a list.`);
  const values: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (values.length > MAX_VALUES) throw new UnfitArguments(`"${key}" has more than ${MAX_VALUES} values.`);
  return values;
}

function text(key: string, given: unknown, { type, choices }: CliValue): string {
  const isScalar = typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean';
  if (!isScalar) throw new UnfitArguments(`"${key}" must be a ${type}.`);
  const value = String(given);
  if (value.includes('\0')) throw new UnfitArguments(`"${key}" holds a NUL character.`);
  const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value);
  if (type !== 'string' && (!isNumber || (type === 'integer' && !/^-?\d+$/.test(value)))) {
    throw new UnfitArguments(`"${key}" must be ${type === 'integer' ? 'a whole number' : 'a number'}.`);
  }
  if (choices?.includes(value) === false)
    throw new UnfitArguments(`"${key}" must be one of ${choices.join(', ')}.`);
  return value;
}

function refuseDash(key: string, value: string): void {
  if (!value.startsWith('-')) return;
  throw new UnfitArguments(
    `The value of "${key}" begins with "-", and this program could take it for an option.`,
  );
}

function shown(value: string): string {
  return value.slice(0, 80);
}
