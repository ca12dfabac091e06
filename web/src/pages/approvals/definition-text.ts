import { visible } from '../../lib/visible.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export interface DefinitionText {
  readonly text: string;
  /** Characters that are not in it, since there are too many. */
  readonly hidden: number;
}

interface DefinitionOptions {
  /** How much of each text is shown, and how many lines of all. */
  readonly longest?: number;
  readonly mostLines?: number;
  /** Whether names are in order, so that what only stands elsewhere makes no difference. */
  readonly isSorted?: boolean;
}

/** What people want to read first. */
const FIRST = ['name', 'title', 'description', 'instructions', 'kind', 'command', 'args', 'url'];
/** Shorter texts stand behind their name. */
const SHORT = 80;
const PLAIN_KEY = /^[\p{L}\p{N}_$.:/-]+$/u;
/** What would be taken for a value of another kind, or for nothing. */
const LOOKS_OTHERWISE = /^(?:true|false|null|[-\d[{"'│].*|\s.*|.*\s|)$/s;

/**
 * A definition for reading and comparing: one value per line, texts as they are with a line at their side, and characters
 * that do not show written out. Two that differ anywhere look different.
 */
export function definitionText(definition: JsonObject, options: DefinitionOptions = {}): DefinitionText {
  const {
    longest = Number.POSITIVE_INFINITY,
    mostLines = Number.POSITIVE_INFINITY,
    isSorted = false,
  } = options;
  const lines: string[] = [];
  let hidden = 0;
  const cut = (text: string): string => {
    if (text.length <= longest) return text;
    hidden += text.length - longest;
    return `${text.slice(0, longest)}… (${text.length - longest} more characters)`;
  };
  const write = (name: string, value: unknown, indent: string): void => {
    if (typeof value === 'string') {
      const shown = exact(cut(value));
      if (shown.length <= SHORT && !shown.includes('\n')) {
        lines.push(`${indent}${name} ${LOOKS_OTHERWISE.test(shown) ? JSON.stringify(shown) : shown}`);
        return;
      }
      lines.push(`${indent}${name}`, ...shown.split('\n').map((line) => `${indent}  │ ${line}`));
    } else if (typeof value === 'object' && value !== null) {
      const members =
        isSorted && !Array.isArray(value) ? sorted(Object.entries(value)) : Object.entries(value);
      if (isShortList(value)) lines.push(`${indent}${name} ${exact(JSON.stringify(value))}`);
      else if (members.length === 0) lines.push(`${indent}${name} {}`);
      else {
        lines.push(`${indent}${name}`);
        const isList = Array.isArray(value);
        for (const [key, each] of members) write(isList ? '-' : `${keyText(key)}:`, each, `${indent}  `);
      }
    } else lines.push(`${indent}${name} ${String(value)}`);
  };
  const all = Object.entries(definition);
  const first = FIRST.flatMap((key) => all.filter(([name]) => name === key));
  const others = all.filter(([name]) => !FIRST.includes(name));
  for (const [key, value] of [...first, ...(isSorted ? sorted(others) : others)])
    write(`${keyText(key)}:`, value, '');
  const shown = lines.slice(0, mostLines);
  const rest = lines.slice(mostLines);
  if (rest.length > 0) shown.push(`… (${rest.length} more lines)`);
  return { text: shown.join('\n'), hidden: hidden + rest.join('\n').length };
}

function sorted(members: [string, unknown][]): [string, unknown][] {
  return members.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Also the ends of lines of another system, which nobody sees. */
function exact(text: string): string {
  return visible(text.replaceAll('\r', String.raw`\u{d}`));
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? key : exact(JSON.stringify(key));
}

function isShortList(value: object): boolean {
  return (
    Array.isArray(value) &&
    value.every((each) => typeof each !== 'object' || each === null) &&
    JSON.stringify(value).length <= SHORT
  );
}
