import type { CliArgument, CliOption } from '../cli-command.ts';
import { readOptionSpec } from './option-spec.ts';
import { choicesIn } from './option-value.ts';
import { optionsOf } from './read-options.ts';
import { usageTokens } from './usage-tokens.ts';

/** What one usage line says of one command. */
export interface Usage {
  readonly arguments: readonly CliArgument[];
  readonly options: readonly CliOption[];
  /** A bare word behind the command: the name of a subcommand, where there are several such lines. */
  readonly word?: string;
  /** It wants a subcommand, whatever that is. */
  readonly wantsCommand: boolean;
  /** Something in it was not understood. */
  readonly isUnclear: boolean;
}

const OPTIONS_WORD = /(?:^|[ -])(?:options?|flags?|global-options|OPTIONS?|FLAGS?)(?:\.\.\.)?$/i;
const COMMAND_WORD = /^(?:sub-?)?command$/i;
const MAX_DEPTH = 4;

interface Reading {
  readonly arguments: CliArgument[];
  readonly options: CliOption[];
  word: string | undefined;
  wantsCommand: boolean;
  isUnclear: boolean;
  isAfterDashes: boolean;
}

/** Reads what stands behind program and command; undefined where the line is about another command. */
export function readUsage(
  line: string,
  words: readonly string[],
  known: ReadonlyMap<string, string>,
): Usage | undefined {
  const tokens = usageTokens(line);
  const rest = behind(tokens, words);
  if (rest === undefined) return undefined;
  const reading: Reading = {
    arguments: [],
    options: [],
    word: undefined,
    wantsCommand: false,
    isUnclear: false,
    isAfterDashes: false,
  };
  readTokens(rest, { reading, known, isOptional: false, depth: 0 });
  const { isAfterDashes: _, word, ...usage } = reading;
  return { ...usage, ...(word !== undefined && { word }) };
}

/** The tokens behind the words of the command; options of the program may stand between them. */
function behind(tokens: readonly string[], words: readonly string[]): readonly string[] | undefined {
  let at = 1;
  for (const word of words) {
    while (at < tokens.length && tokens[at]?.startsWith('[-') === true) at++;
    if (tokens[at] !== word) return undefined;
    at++;
  }
  return tokens.slice(at);
}

interface Scope {
  readonly reading: Reading;
  readonly known: ReadonlyMap<string, string>;
  readonly isOptional: boolean;
  readonly depth: number;
}

function readTokens(tokens: readonly string[], scope: Scope): void {
  const { reading } = scope;
  for (const [at, token] of tokens.entries()) {
    const [, core = '', dots] = /^(.*?)(\.\.\.)?$/s.exec(token) ?? [];
    if (core === '') {
      repeatLast(reading);
      continue;
    }
    if (token === '|' || token === '/') {
      reading.isUnclear = true;
      continue;
    }
    if (core === '--' || core === '[--]') reading.isAfterDashes = true;
    else if (core.startsWith('[') && core.endsWith(']')) bracketed(core.slice(1, -1), dots, scope);
    else if (core.startsWith('(') && core.endsWith(')')) grouped(core.slice(1, -1), dots, scope);
    else if (core.startsWith('-')) optionsIn(tokens.slice(at, at + 2).join(' '), reading);
    else if (tokens[at - 1]?.startsWith('-') !== true || reading.isAfterDashes) named(core, dots, scope);
  }
}

function bracketed(inner: string, dots: string | undefined, scope: Scope): void {
  const { reading } = scope;
  const text = inner.trim();
  if (/^--(?:\s|$)/.test(text) || text.startsWith('[--]')) {
    reading.isAfterDashes = true;
    readInner(text.replace(/^(?:--|\[--\])\s*/, ''), { ...scope, isOptional: true });
  } else if (text.startsWith('-') || text.startsWith('(-')) optionsIn(text, reading);
  else if (OPTIONS_WORD.test(text.replaceAll(/[<>]/g, ''))) return;
  else if (text.startsWith('+')) return; // `+toolchain`
  else {
    const before = reading.arguments.length;
    readInner(text, { ...scope, isOptional: true });
    if (dots !== undefined && reading.arguments.length > before) repeatLast(reading);
  }
}

function readInner(text: string, scope: Scope): void {
  if (text === '') return;
  if (scope.depth >= MAX_DEPTH) scope.reading.isUnclear = true;
  else if (/\s\|\s/.test(text)) alternatives(text, scope);
  else readTokens(usageTokens(text), { ...scope, depth: scope.depth + 1 });
}

function grouped(inner: string, dots: string | undefined, scope: Scope): void {
  if (inner.trim().startsWith('-')) optionsIn(inner, scope.reading);
  else alternatives(inner, scope);
  if (dots !== undefined) repeatLast(scope.reading);
}

/** `A | B`: one argument that is either, or something that only a person understands. */
function alternatives(text: string, scope: Scope): void {
  const parts = text.split('|').map((part) => part.trim());
  const isPlain = parts.every((part) => /^<?[\w./:-]+>?(?:\.\.\.)?$/.test(part) && !part.startsWith('-'));
  if (!isPlain) scope.reading.isUnclear = true;
  else named(parts.length === 1 ? text : parts.join('|'), undefined, scope);
}

function named(core: string, dots: string | undefined, scope: Scope): void {
  const { reading, known } = scope;
  const bare = core.replaceAll(/[<>]/g, '').trim();
  if (COMMAND_WORD.test(bare) && !reading.isAfterDashes && reading.arguments.length === 0) {
    reading.wantsCommand = true;
    return;
  }
  if (OPTIONS_WORD.test(bare)) return;
  const isBareWord = /^[a-z][a-z0-9-]*$/.test(core) && !known.has(core);
  if (isBareWord && !scope.isOptional && reading.arguments.length === 0 && reading.word === undefined) {
    reading.word = core;
    return;
  }
  const choices = choicesIn(core);
  const name = propertyName((choices === undefined ? bare : '') || 'argument');
  if (reading.arguments.some((one) => one.name === name)) {
    reading.isUnclear = true;
    return;
  }
  reading.arguments.push({
    name,
    value: { type: 'string', ...(choices !== undefined && { choices }) },
    isRequired: !scope.isOptional,
    repeats: dots !== undefined || bare.endsWith('...'),
    afterDashes: reading.isAfterDashes,
    description: known.get(bare) ?? known.get(bare.toLowerCase()) ?? '',
  });
}

function optionsIn(text: string, reading: Reading): void {
  // `[-t <branch>]`, `[-v | --verbose]`, `[--tags | --no-tags]`, `[--omit <a|b> [--omit <a|b> ...]]`
  const [first = ''] = text.split(' [-', 1);
  const spec = readOptionSpec(first.replace(/^\(/, '').replaceAll(/[)\]]+$/g, (end) => closing(first, end)));
  if (spec === undefined) return;
  const long = spec.flags.filter((flag) => flag.startsWith('--'));
  const each = long.length > 1 ? long.map((flag) => ({ ...spec, flags: [flag] })) : [spec];
  const isRepeated = text.endsWith('...]') && text.includes(' [-');
  for (const one of each) {
    for (const option of optionsOf(one, '')) {
      reading.options.push(isRepeated && option.value ? { ...option, repeats: 'flags' } : option);
    }
  }
}

/** Brackets that were opened in the text stay. */
function closing(text: string, end: string): string {
  return (text.match(/\[/g)?.length ?? 0) > 0 || (text.match(/\(/g)?.length ?? 0) > 0 ? end : '';
}

function repeatLast(reading: Reading): void {
  const last = reading.arguments.pop();
  if (last !== undefined) reading.arguments.push({ ...last, repeats: true });
}

function propertyName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return name.slice(0, 40) || 'argument';
}
