import { widthOf } from './width.ts';

/** Commands stay in one piece, so that they can be copied: those in backticks, and those that end a line. */
const PIECES = /`[^`]*`\S*|(?<=: )trunkline [^\n]*$|\S+/g;
/** Somebody pastes this, so that no line break may be added: JSON, and a command that has an indented line to itself. */
const PASTED = /^\s*[[\]{}"]|^ {2,}(?:[A-Z_]+=(?:'[^']*'|\S)+ )*(?:trunkline|node) /;

/** Sentences for a terminal, broken between words; lines that begin further right go on there. */
export function prose(text: string, width: number): string {
  if (width === Infinity) return text;
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= width || PASTED.test(line) ? line : broken(line, width)))
    .join('\n');
}

function broken(line: string, width: number): string {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = '';
  for (const piece of line.match(PIECES) ?? []) {
    const joined = current === '' ? indent + piece : `${current} ${piece}`;
    if (current !== '' && widthOf(joined) > width) {
      lines.push(current);
      current = indent + piece;
    } else current = joined;
  }
  return [...lines, current].join('\n');
}
