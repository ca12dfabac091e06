import type { CliArgument, CliOption } from '../cli-command.ts';
import { readOptionSpec } from './option-spec.ts';
import { parseChoices } from './option-value.ts';
import { createOptions } from './read-options.ts';
import type { HelpSection } from './help-sections.ts';
import { indentWidth } from './plain-text.ts';

/** The content of one usage line about one command. */
export interface Usage {
  readonly arguments: readonly CliArgument[];
  readonly options: readonly CliOption[];
  /** A plain word after the command. If several usage lines have such a word, it is the name of a subcommand. */
  readonly word?: string | undefined;
  /** Whether the usage requires a subcommand without naming one, as in `git <command>`. */
  readonly wantsCommand: boolean;
  /** Whether a part of the usage was not understood. */
  readonly isUnclear: boolean;
}

const OPTIONS_WORD = /(?:^|[ -])(?:options?|flags?|global-options|OPTIONS?|FLAGS?)(?:\.\.\.)?$/i;
const COMMAND_WORD = /^(?:sub-?)?command$/i;
const MAX_DEPTH = 4;
const MAX_USAGES = 60;
const MAX_USAGE_CHARS = 4_000;
const CLOSING_BRACKETS: Readonly<Record<string, string>> = { '[': ']', '(': ')', '<': '>', '{': '}' };

/** Returns the usages of a help text, each joined to one line that starts with the program. */
export function findUsageLines(sections: readonly HelpSection[], program: string): readonly string[] {
  const usages: string[] = [];
  for (const { title, lines } of sections) {
    if (!/^(?:usage|synopsis)/i.test(title)) continue;
    let isOpen = false;
    let margin = 0;
    for (const line of lines) {
      const text = line.trim().replace(/^(?:or:|\$)\s*/i, '');
      if (text === '') {
        isOpen = false;
        continue;
      }
      const isStart = startsWithProgram(text, program) || (!isOpen && usages.length === 0);
      // A line that is indented much further continues the usage above, even if it starts with the name of the program.
      if (isStart && !(isOpen && indentWidth(line) > margin + 12)) {
        usages.push(text);
        margin = indentWidth(line);
        isOpen = true;
      } else if (isOpen && indentWidth(line) > 0) {
        usages.push(`${usages.pop() ?? ''} ${text}`.slice(0, MAX_USAGE_CHARS));
      }
      if (usages.length >= MAX_USAGES) return usages;
    }
  }
  return usages;
}

function startsWithProgram(text: string, program: string): boolean {
  const [first = ''] = text.split(/[\s[]/, 1);
  return first === program || first.endsWith(`/${program}`) || first.replace(/\.\w{2,4}$/, '') === program;
}

interface UsageBuilder {
  readonly arguments: CliArgument[];
  readonly options: CliOption[];
  word: string | undefined;
  wantsCommand: boolean;
  isUnclear: boolean;
  isAfterDashes: boolean;
}

/** Reads the part of a usage line after the program and the command; returns undefined if the line is about another command. */
export function readUsage(
  line: string,
  words: readonly string[],
  descriptions: ReadonlyMap<string, string>,
): Usage | undefined {
  const tokens = splitTokens(line);
  const rest = tokensAfterCommand(tokens, words);
  if (rest === undefined) return undefined;
  const usage: UsageBuilder = {
    arguments: [],
    options: [],
    word: undefined,
    wantsCommand: false,
    isUnclear: false,
    isAfterDashes: false,
  };
  readTokens(rest, { usage, descriptions, isOptional: false, depth: 0 });
  return usage;
}

/** Returns the tokens after the words of the command; options of the program may appear between the words. */
function tokensAfterCommand(
  tokens: readonly string[],
  words: readonly string[],
): readonly string[] | undefined {
  let index = 1;
  for (const word of words) {
    while (index < tokens.length && tokens[index]?.startsWith('[-') === true) index++;
    if (tokens[index] !== word) return undefined;
    index++;
  }
  return tokens.slice(index);
}

/** The usage that is being built, and the context of the current tokens: whether they are in optional brackets, and how deep. */
interface Scope {
  readonly usage: UsageBuilder;
  readonly descriptions: ReadonlyMap<string, string>;
  readonly isOptional: boolean;
  readonly depth: number;
}

function readTokens(tokens: readonly string[], scope: Scope): void {
  const { usage } = scope;
  for (const [index, token] of tokens.entries()) {
    // Separates `...`, which marks a repeated argument. A token that is only `...` repeats the previous argument.
    const [, core = '', dots] = /^(.*?)(\.\.\.)?$/s.exec(token) ?? [];
    if (core === '') {
      repeatLast(usage);
      continue;
    }
    if (token === '|' || token === '/') {
      usage.isUnclear = true;
      continue;
    }
    if (core === '--' || core === '[--]') usage.isAfterDashes = true;
    else if (core.startsWith('[') && core.endsWith(']')) readBracketed(core.slice(1, -1), dots, scope);
    else if (core.startsWith('(') && core.endsWith(')')) readGrouped(core.slice(1, -1), dots, scope);
    else if (core.startsWith('-')) readInlineOptions(tokens.slice(index, index + 2).join(' '), usage);
    // A word after an option is the value of that option, which `readInlineOptions` has read.
    else if (tokens[index - 1]?.startsWith('-') !== true || usage.isAfterDashes) readName(core, dots, scope);
  }
}

function readBracketed(inner: string, dots: string | undefined, scope: Scope): void {
  const { usage } = scope;
  const text = inner.trim();
  if (/^--(?:\s|$)/.test(text) || text.startsWith('[--]')) {
    usage.isAfterDashes = true;
    readInner(text.replace(/^(?:--|\[--\])\s*/, ''), { ...scope, isOptional: true });
  } else if (text.startsWith('-') || text.startsWith('(-')) readInlineOptions(text, usage);
  else if (OPTIONS_WORD.test(text.replaceAll(/[<>]/g, ''))) return;
  else if (text.startsWith('+')) return; // Ignores `+toolchain` of cargo.
  else {
    const before = usage.arguments.length;
    readInner(text, { ...scope, isOptional: true });
    if (dots !== undefined && usage.arguments.length > before) repeatLast(usage);
  }
}

function readInner(text: string, scope: Scope): void {
  if (text === '') return;
  if (scope.depth >= MAX_DEPTH) scope.usage.isUnclear = true;
  else if (/\s\|\s/.test(text)) readAlternatives(text, scope);
  else readTokens(splitTokens(text), { ...scope, depth: scope.depth + 1 });
}

function readGrouped(inner: string, dots: string | undefined, scope: Scope): void {
  if (inner.trim().startsWith('-')) readInlineOptions(inner, scope.usage);
  else readAlternatives(inner, scope);
  if (dots !== undefined) repeatLast(scope.usage);
}

/** Reads `A | B` as one argument with choices; anything more complex is unclear. */
function readAlternatives(text: string, scope: Scope): void {
  const parts = text.split('|').map((part) => part.trim());
  const isPlain = parts.every((part) => /^<?[\w./:-]+>?(?:\.\.\.)?$/.test(part) && !part.startsWith('-'));
  if (!isPlain) scope.usage.isUnclear = true;
  else readName(parts.length === 1 ? text : parts.join('|'), undefined, scope);
}

function readName(core: string, dots: string | undefined, scope: Scope): void {
  const { usage, descriptions } = scope;
  const bare = core.replaceAll(/[<>]/g, '').trim();
  if (COMMAND_WORD.test(bare) && !usage.isAfterDashes && usage.arguments.length === 0) {
    usage.wantsCommand = true;
    return;
  }
  if (OPTIONS_WORD.test(bare)) return;
  const isBareWord = /^[a-z][a-z0-9-]*$/.test(core) && !descriptions.has(core);
  if (isBareWord && !scope.isOptional && usage.arguments.length === 0 && usage.word === undefined) {
    usage.word = core;
    return;
  }
  const choices = parseChoices(core);
  const name = propertyName((choices === undefined ? bare : '') || 'argument');
  if (usage.arguments.some((argument) => argument.name === name)) {
    usage.isUnclear = true;
    return;
  }
  usage.arguments.push({
    name,
    value: { type: 'string', choices },
    isRequired: !scope.isOptional,
    repeats: dots !== undefined || bare.endsWith('...'),
    afterDashes: usage.isAfterDashes,
    description: descriptions.get(bare) ?? descriptions.get(bare.toLowerCase()) ?? '',
  });
}

function readInlineOptions(text: string, usage: UsageBuilder): void {
  // Examples: `[-t <branch>]`, `[-v | --verbose]`, `[--tags | --no-tags]`, `[--omit <a|b> [--omit <a|b> ...]]`.
  const [first = ''] = text.split(' [-', 1);
  const spec = readOptionSpec(
    first.replace(/^\(/, '').replaceAll(/[)\]]+$/g, (end) => keepOpenBrackets(first, end)),
  );
  if (spec === undefined) return;
  const long = spec.flags.filter((flag) => flag.startsWith('--'));
  // Alternatives such as `[--tags | --no-tags]` are separate options.
  const specs = long.length > 1 ? long.map((flag) => ({ ...spec, flags: [flag] })) : [spec];
  const isRepeated = text.endsWith('...]') && text.includes(' [-');
  for (const alternative of specs) {
    for (const option of createOptions(alternative, '')) {
      usage.options.push(isRepeated && option.value ? { ...option, repeats: 'flags' } : option);
    }
  }
}

/** Returns the closing brackets at the end of a text if the text contains an opening one, else an empty text. */
function keepOpenBrackets(text: string, end: string): string {
  return (text.match(/\[/g)?.length ?? 0) > 0 || (text.match(/\(/g)?.length ?? 0) > 0 ? end : '';
}

function repeatLast(usage: UsageBuilder): void {
  const last = usage.arguments.pop();
  if (last !== undefined) usage.arguments.push({ ...last, repeats: true });
}

function propertyName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return name.slice(0, 40) || 'argument';
}

/** Splits a usage at spaces outside of brackets, into at most `max` tokens. */
function splitTokens(text: string, max = 80): readonly string[] {
  const tokens: string[] = [];
  const open: string[] = [];
  let token = '';
  for (const char of text) {
    if (char === ' ' && open.length === 0) {
      if (token !== '') tokens.push(token);
      token = '';
      if (tokens.length >= max) return tokens;
      continue;
    }
    const closing = CLOSING_BRACKETS[char];
    if (closing !== undefined) open.push(closing);
    else if (char === open.at(-1)) open.pop();
    token += char;
  }
  if (token !== '') tokens.push(token);
  return tokens;
}
