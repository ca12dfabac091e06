import { listMembers, type Node, parseDocument } from './document.ts';

interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

/** The formatting of the text, which new parts imitate. */
interface TextStyle {
  readonly text: string;
  readonly indentUnit: string;
  readonly eol: string;
}

/**
 * Sets one member of a JSON object with comments, or removes it if `value` is undefined. Every other byte stays as it is.
 * Creates missing parent objects. `modify` of jsonc-parser is not used, because it loses comments: see docs/decisions/dependencies.md.
 *
 * @example setMember('{ "log": {} } // mine', ['log', 'level'], 'debug') // '{ "log": {"level": "debug"} } // mine'
 */
export function setMember(text: string, path: readonly [string, ...string[]], value: unknown): string {
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw new TypeError(parsed.problem.message);
  const style: TextStyle = {
    text,
    indentUnit: detectIndentUnit(text),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  // The last edit is applied first, so that the offsets of the others stay valid.
  return planEdits(parsed.root, path, value, style)
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((result, { offset, length, content }) => {
      return result.slice(0, offset) + content + result.slice(offset + length);
    }, text);
}

/** Returns the first indentation of the text, of which the others are multiples; two spaces if there is none. */
function detectIndentUnit(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

function planEdits(
  node: Node,
  [key, ...rest]: readonly [string, ...string[]],
  value: unknown,
  style: TextStyle,
): readonly TextEdit[] {
  const members = listMembers(node);
  // The last of several duplicate keys counts, as in `JSON.parse`.
  const at = members.findLastIndex((member) => member.key === key);
  const current = members[at]?.valueNode;
  const [next, ...after] = rest;
  if (current !== undefined && next !== undefined && current.type === 'object') {
    return planEdits(current, [next, ...after], value, style);
  }
  if (value === undefined) {
    return current === undefined || next !== undefined ? [] : planRemoval(node, at, style.text);
  }
  // The remaining path does not exist yet, so its objects are created around the value.
  const withParents = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  if (current === undefined) return planInsertion(node, key, withParents, style);
  const content = formatValue(withParents, readIndent(style.text, current.offset), style);
  return [{ offset: current.offset, length: current.length, content }];
}

/** Adds a member at the end of an object, with the comma that it needs and with a trailing comma if the object has one. */
function planInsertion(node: Node, key: string, value: unknown, style: TextStyle): readonly TextEdit[] {
  const { text, indentUnit, eol } = style;
  const members = listMembers(node);
  const first = members[0];
  const last = members.at(-1);
  const close = node.offset + node.length - 1;
  const content = text.slice(node.offset + 1, close);
  const parentIndent = readIndent(text, node.offset);
  const isMultiline = content.includes('\n') || (last === undefined && text.trim().includes('\n'));
  const indent =
    first !== undefined && isMultiline ? readIndent(text, first.keyNode.offset) : parentIndent + indentUnit;
  const member = `${JSON.stringify(key)}: ${isMultiline ? formatValue(value, indent, style) : formatInline(value)}`;
  if (last === undefined) {
    const blank = content.length - content.trimEnd().length;
    const space = content.trim() === '' ? '' : ' ';
    const inserted = isMultiline ? `${eol}${indent}${member}${eol}${parentIndent}` : `${space}${member}`;
    return [{ offset: close - blank, length: blank, content: inserted }];
  }
  const end = last.valueNode.offset + last.valueNode.length;
  const comma = findCommaEnd(text, end, close);
  const from = comma ?? end;
  if (!isMultiline) {
    return [{ offset: from, length: 0, content: `${comma === undefined ? ', ' : ' '}${member}` }];
  }
  // The new member is inserted after the line of the last member, because that line may end with a comment about the last member.
  const line = findLineEnd(text, from, close);
  const isSameLine = line === close;
  const blank = isSameLine ? countTrailingBlanks(text, close) : 0;
  const offset = line - blank;
  const inserted = `${eol}${indent}${member}${comma === undefined ? '' : ','}${isSameLine ? eol + parentIndent : ''}`;
  if (comma !== undefined) return [{ offset, length: blank, content: inserted }];
  if (offset === end) return [{ offset, length: blank, content: `,${inserted}` }];
  return [
    { offset: end, length: 0, content: ',' },
    { offset, length: blank, content: inserted },
  ];
}

/** Removes a member with its comma, and with its whole line if nothing else is on it. */
function planRemoval(node: Node, at: number, text: string): readonly TextEdit[] {
  const members = listMembers(node);
  const member = members[at];
  if (member === undefined) return [];
  const close = node.offset + node.length - 1;
  const start = member.keyNode.offset;
  const end = member.valueNode.offset + member.valueNode.length;
  const comma = findCommaEnd(text, end, close);
  const previous = members[at - 1];
  const edits: TextEdit[] = [];
  // Without the last member, the comma of the member before it would be a trailing comma.
  if (comma === undefined && previous !== undefined) {
    const previousEnd = previous.valueNode.offset + previous.valueNode.length;
    const previousComma = findCommaEnd(text, previousEnd, start);
    if (previousComma !== undefined) edits.push({ offset: previousComma - 1, length: 1, content: '' });
  }
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const removedEnd = comma ?? end;
  const isFirstInLine = text.slice(lineStart, start).trim() === '';
  const lineRest = /^[ \t]*(\r?\n)?/.exec(text.slice(removedEnd));
  const isLastInLine = lineRest?.[1] !== undefined;
  if (isFirstInLine && isLastInLine) {
    const length = removedEnd + (lineRest?.[0].length ?? 0) - lineStart;
    return [...edits, { offset: lineStart, length, content: '' }];
  }
  if (comma !== undefined) {
    const blankAfter = /^[ \t]*/.exec(text.slice(removedEnd))?.[0].length ?? 0;
    return [...edits, { offset: start, length: removedEnd - start + blankAfter, content: '' }];
  }
  // The last member is removed together with the blanks before it; the blanks before the closing brace stay.
  const blankBefore = isFirstInLine ? 0 : (/[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0);
  return [...edits, { offset: start - blankBefore, length: removedEnd - start + blankBefore, content: '' }];
}

/** Returns the offset after the comma that follows, possibly after comments and blanks; undefined if there is none. */
function findCommaEnd(text: string, from: number, to: number): number | undefined {
  for (let at = from; at < to;) {
    if (text[at] === ',') return at + 1;
    at = skipBlankOrComment(text, at) ?? to;
  }
  return undefined;
}

/** Returns the end of the line of `from`, after blanks and comments; `close` if the object ends on that line. */
function findLineEnd(text: string, from: number, close: number): number {
  for (let at = from; at < close;) {
    if (text[at] === '\n') return text[at - 1] === '\r' ? at - 1 : at;
    const next = skipBlankOrComment(text, at);
    if (next === undefined) return at;
    at = next;
  }
  return close;
}

/** Returns the offset after the blank or comment at `at`; undefined for anything else. */
function skipBlankOrComment(text: string, at: number): number | undefined {
  if (text.startsWith('//', at)) {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  if (text.startsWith('/*', at)) return text.indexOf('*/', at) + 2;
  return /\s/.test(text[at] ?? '') ? at + 1 : undefined;
}

function countTrailingBlanks(text: string, end: number): number {
  return /\s*$/.exec(text.slice(0, end))?.[0].length ?? 0;
}

function readIndent(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

/** Formats short lists and nested flat objects on one line, everything else with one member per line. */
function formatValue(value: unknown, indent: string, style: TextStyle, isNested = false): string {
  const inline = formatInline(value);
  if (typeof value !== 'object' || value === null) return inline;
  const isFlat = Object.values(value).every((member) => typeof member !== 'object' || member === null);
  const isShort = isFlat && (isNested || Array.isArray(value)) && inline.length <= 76;
  if (Object.keys(value).length === 0 || isShort) return inline;
  const innerIndent = indent + style.indentUnit;
  const parts = Array.isArray(value)
    ? value.map((item) => formatValue(item, innerIndent, style, true))
    : Object.entries(value).flatMap(([key, member]) =>
        member === undefined
          ? []
          : [`${JSON.stringify(key)}: ${formatValue(member, innerIndent, style, true)}`],
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const { eol } = style;
  return `${open}${eol}${innerIndent}${parts.join(`,${eol}${innerIndent}`)}${eol}${indent}${close}`;
}

function formatInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatInline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}: ${formatInline(member)}`],
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
