import { displayWidth } from './display-width.ts';

/** Matches words, and commands that must stay in one piece for copying: in backticks, or at the end of a line. */
const PIECES = /`[^`]*`\S*|(?<=: )trunkline [^\n]*$|\S+/g;
/** Matches lines that users paste, which must not be broken: JSON, and a command on an indented line of its own. */
const PASTED = /^\s*[[\]{}"]|^ {2,}(?:[A-Z_]+=(?:'[^']*'|\S)+ )*(?:trunkline|node) /;

/** Wraps sentences between words. Continuation lines keep the indentation. */
export function wrapProse(text: string, width: number): string {
  if (width === Infinity) return text;
  return text
    .split('\n')
    .map((line) => (displayWidth(line) <= width || PASTED.test(line) ? line : wrapLine(line, width)))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = '';
  for (const piece of line.match(PIECES) ?? []) {
    const joined = current === '' ? indent + piece : `${current} ${piece}`;
    if (current !== '' && displayWidth(joined) > width) {
      lines.push(current);
      current = indent + piece;
    } else current = joined;
  }
  return [...lines, current].join('\n');
}
