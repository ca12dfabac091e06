import { escapeInvisible } from './escape-invisible.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export interface FormattedDefinition {
  readonly text: string;
  /** The number of characters that were omitted. */
  readonly hidden: number;
}

interface FormatOptions {
  /** The maximum length of each text, in characters. */
  readonly maxTextChars?: number;
  readonly maxLines?: number;
  /** The maximum length of all lines together, in characters. */
  readonly maxChars?: number;
  /** Whether keys are sorted, so that definitions that differ only in key order have the same text. */
  readonly isSorted?: boolean;
}

/** The keys that come first, in this order. A long description must not push away the command that it describes. */
const FIRST_KEYS = ['name', 'title', 'kind', 'command', 'args', 'url', 'description', 'instructions'];
/** The maximum length of a text or list on the line of its key, in characters. Longer ones start on a new line. */
const MAX_INLINE_CHARS = 80;
/** Deeper values are written as one line of JSON, because their indentation would grow with the square of the depth. */
const MAX_INDENTED_LEVELS = 40;
/** Matches keys that need no quotes. */
const PLAIN_KEY = /^[\p{L}\p{N}_$.:/-]+$/u;
/** Matches texts that must be quoted, because they look like another type of value, are empty, or start or end with a space. */
const AMBIGUOUS_TEXT = /^(?:true|false|null|[-\d[{"'│].*|\s.*|.*\s|)$/s;

/**
 * Formats a definition for reading and comparing: one value per line, long texts with a bar at their side, and invisible
 * characters as code points. Different definitions have different texts.
 */
export function formatDefinition(definition: JsonObject, options: FormatOptions = {}): FormattedDefinition {
  const { isSorted = false } = options;
  const writer = new DefinitionWriter(options.maxTextChars ?? Number.POSITIVE_INFINITY, isSorted);
  const members = Object.entries(definition);
  const first = FIRST_KEYS.flatMap((key) => members.filter(([name]) => name === key));
  const others = members.filter(([name]) => !FIRST_KEYS.includes(name));
  for (const [key, value] of [...first, ...(isSorted ? sortMembers(others) : others)])
    writer.write(`${formatKey(key)}:`, value, '');
  const end = countFittingLines(writer.lines, options);
  const shown = writer.lines.slice(0, end);
  const rest = writer.lines.slice(end);
  if (rest.length > 0) shown.push(`… (${rest.length} more lines)`);
  return { text: shown.join('\n'), hidden: writer.hidden + rest.join('\n').length };
}

/** The limits for definitions until the user expands them. Two definitions of this size fit into the rows that a diff shows at first. */
export const CUT_LIMITS = { maxTextChars: 4000, maxLines: 500, maxChars: 20_000 };
/** One constant for all renders, so that memoized texts stay the same. */
export const NO_LIMITS = {};

/** Returns whether at least one of the definitions exceeds `CUT_LIMITS`, so that it is shown only in part at first. */
export function isCutAtFirst(...definitions: readonly (JsonObject | undefined)[]): boolean {
  return definitions.some(
    (definition) => definition !== undefined && formatDefinition(definition, CUT_LIMITS).hidden > 0,
  );
}

/** Returns how many of the first lines are within the limits. */
function countFittingLines(
  lines: readonly string[],
  { maxLines = Number.POSITIVE_INFINITY, maxChars = Number.POSITIVE_INFINITY }: FormatOptions,
): number {
  let chars = 0;
  const tooLong = lines.findIndex((line) => (chars += line.length) > maxChars);
  return Math.min(maxLines, tooLong < 0 ? lines.length : tooLong);
}

class DefinitionWriter {
  readonly lines: string[] = [];
  /** The number of characters that were cut from long texts. */
  hidden = 0;
  readonly #maxTextChars: number;
  readonly #isSorted: boolean;

  constructor(maxTextChars: number, isSorted: boolean) {
    this.#maxTextChars = maxTextChars;
    this.#isSorted = isSorted;
  }

  write(label: string, value: unknown, indent: string): void {
    if (typeof value === 'string') this.#writeText(label, value, indent);
    else if (typeof value === 'object' && value !== null) this.#writeMembers(label, value, indent);
    else this.lines.push(`${indent}${label} ${String(value)}`);
  }

  #writeText(label: string, value: string, indent: string): void {
    const text = escapeAll(this.#truncate(value));
    if (text.length <= MAX_INLINE_CHARS && !text.includes('\n')) {
      this.lines.push(`${indent}${label} ${AMBIGUOUS_TEXT.test(text) ? JSON.stringify(text) : text}`);
      return;
    }
    this.lines.push(`${indent}${label}`, ...text.split('\n').map((line) => `${indent}  │ ${line}`));
  }

  #writeMembers(label: string, value: object, indent: string): void {
    const isList = Array.isArray(value);
    const members = Object.entries(value);
    if (indent.length >= 2 * MAX_INDENTED_LEVELS)
      this.lines.push(`${indent}${label} ${escapeAll(this.#truncate(JSON.stringify(value)))}`);
    else if (isShortList(value)) this.lines.push(`${indent}${label} ${escapeAll(JSON.stringify(value))}`);
    else if (members.length === 0) this.lines.push(`${indent}${label} {}`);
    else {
      this.lines.push(`${indent}${label}`);
      for (const [key, member] of this.#isSorted && !isList ? sortMembers(members) : members)
        this.write(isList ? '-' : `${formatKey(key)}:`, member, `${indent}  `);
    }
  }

  #truncate(text: string): string {
    const excess = text.length - this.#maxTextChars;
    if (excess <= 0) return text;
    this.hidden += excess;
    return `${text.slice(0, this.#maxTextChars)}… (${excess} more characters)`;
  }
}

function sortMembers(members: [string, unknown][]): [string, unknown][] {
  return members.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Escapes invisible characters including carriage returns, which `escapeInvisible` removes from Windows line endings. A text that already
 * looks like an escape is changed, so that it differs from an invisible character.
 */
function escapeAll(text: string): string {
  const plain = text.replaceAll(String.raw`\u{`, String.raw`\u{5c}u{`);
  return escapeInvisible(plain.replaceAll('\r', String.raw`\u{d}`));
}

function formatKey(key: string): string {
  return PLAIN_KEY.test(key) ? key : escapeAll(JSON.stringify(key));
}

function isShortList(value: object): boolean {
  return (
    Array.isArray(value) &&
    value.every((item) => typeof item !== 'object' || item === null) &&
    JSON.stringify(value).length <= MAX_INLINE_CHARS
  );
}
