import { membersOf, type Node, parseDocument } from './document.ts';

interface Splice {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

/** How the rest of the text is written, so that what is added looks like it. */
interface Manner {
  readonly text: string;
  readonly unit: string;
  readonly eol: string;
}

/**
 * The text with one member set, or removed where `value` is undefined; every other byte stays, comments and all. Objects on
 * the way that are missing are made. The text must be a JSON object, comments and trailing commas allowed.
 */
export function withMember(text: string, path: readonly [string, ...string[]], value: unknown): string {
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw new TypeError(parsed.problem.message);
  const manner: Manner = { text, unit: unitOf(text), eol: text.includes('\r\n') ? '\r\n' : '\n' };
  const splices = splicesFor(parsed.root, path, value, manner);
  return splices
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((all, { offset, length, content }) => {
      return all.slice(0, offset) + content + all.slice(offset + length);
    }, text);
}

function splicesFor(
  node: Node,
  [key, ...rest]: readonly [string, ...string[]],
  value: unknown,
  manner: Manner,
): readonly Splice[] {
  const members = membersOf(node);
  const at = members.findLastIndex((member) => member.key === key);
  const found = members[at]?.valueNode;
  const [next, ...after] = rest;
  if (found !== undefined && next !== undefined && found.type === 'object')
    return splicesFor(found, [next, ...after], value, manner);
  if (value === undefined)
    return found === undefined || next !== undefined ? [] : removal(node, at, manner.text);
  const whole = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  if (found === undefined) return insertion(node, key, whole, manner);
  const content = render(whole, indentAt(manner.text, found.offset), manner);
  return [{ offset: found.offset, length: found.length, content }];
}

function insertion(node: Node, key: string, value: unknown, manner: Manner): readonly Splice[] {
  const { text, unit, eol } = manner;
  const members = membersOf(node);
  const last = members.at(-1);
  const inside = text.slice(node.offset + 1, node.offset + node.length - 1);
  const own = indentAt(text, node.offset);
  const first = members[0];
  const isBlock = inside.includes('\n') || (last === undefined && text.trim().includes('\n'));
  const indent = first !== undefined && isBlock ? indentAt(text, first.keyNode.offset) : own + unit;
  const member = `${JSON.stringify(key)}: ${isBlock ? render(value, indent, manner) : oneLine(value)}`;
  const close = node.offset + node.length - 1;
  if (last === undefined) return [intoEmpty({ close, inside, member, indent, own, isBlock, eol })];
  const end = last.valueNode.offset + last.valueNode.length;
  const comma = commaAfter(text, end, close);
  const from = comma ?? end;
  const splices = comma === undefined ? [{ offset: end, length: 0, content: ',' }] : [];
  if (!isBlock) return [{ offset: from, length: 0, content: `${comma === undefined ? ', ' : ' '}${member}` }];
  // Behind what stands on the same line as the last member, which may be a comment about it.
  const line = lineEnd(text, from, close);
  const content = `${eol}${indent}${member}${comma === undefined ? '' : ','}${line === close ? eol + own : ''}`;
  const length = line === close ? trailingBlank(text, close) : 0;
  const offset = line - length;
  return offset === end && splices.length > 0
    ? [{ offset, length, content: `,${content}` }]
    : [...splices, { offset, length, content }];
}

function intoEmpty(into: {
  readonly close: number;
  readonly inside: string;
  readonly member: string;
  readonly indent: string;
  readonly own: string;
  readonly isBlock: boolean;
  readonly eol: string;
}): Splice {
  const { close, inside, member, indent, own, isBlock, eol } = into;
  const blank = inside.length - inside.trimEnd().length;
  const offset = close - blank;
  if (!isBlock) return { offset, length: blank, content: `${inside.trim() === '' ? '' : ' '}${member}` };
  return { offset, length: blank, content: `${eol}${indent}${member}${eol}${own}` };
}

function removal(node: Node, at: number, text: string): readonly Splice[] {
  const members = membersOf(node);
  const member = members[at];
  if (member === undefined) return [];
  const close = node.offset + node.length - 1;
  const start = member.keyNode.offset;
  const end = member.valueNode.offset + member.valueNode.length;
  const comma = commaAfter(text, end, close);
  const before = members[at - 1];
  const splices: Splice[] = [];
  if (comma === undefined && before !== undefined) {
    const previous = before.valueNode.offset + before.valueNode.length;
    const own = commaAfter(text, previous, start);
    if (own !== undefined) splices.push({ offset: own - 1, length: 1, content: '' });
  }
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const upto = comma ?? end;
  const isFirstOfLine = text.slice(from, start).trim() === '';
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(upto));
  const isLastOfLine = rest?.[1] !== undefined;
  if (isFirstOfLine && isLastOfLine) {
    splices.push({ offset: from, length: upto + (rest?.[0].length ?? 0) - from, content: '' });
  } else {
    const blank = isFirstOfLine ? 0 : (/[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0);
    // The brace that is next keeps the space it had.
    const isToEnd = comma === undefined;
    splices.push({
      offset: start - (isToEnd ? blank : 0),
      length: upto - start + (isToEnd ? blank : (/^[ \t]*/.exec(text.slice(upto))?.[0].length ?? 0)),
      content: '',
    });
  }
  return splices;
}

/** The offset behind the comma that follows, comments and blanks in between; undefined when there is none. */
function commaAfter(text: string, from: number, to: number): number | undefined {
  for (let at = from; at < to;) {
    if (text[at] === ',') return at + 1;
    at = skipped(text, at) ?? to;
  }
  return undefined;
}

/** Where the line ends on which `from` is, behind blanks and comments; `close` when the object ends before. */
function lineEnd(text: string, from: number, close: number): number {
  for (let at = from; at < close;) {
    if (text[at] === '\n') return text[at - 1] === '\r' ? at - 1 : at;
    const next = skipped(text, at);
    if (next === undefined) return at;
    at = next;
  }
  return close;
}

/** Behind the blank or the comment that begins there; undefined for anything else. */
function skipped(text: string, at: number): number | undefined {
  if (text.startsWith('//', at)) {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  if (text.startsWith('/*', at)) return text.indexOf('*/', at) + 2;
  return /\s/.test(text[at] ?? '') ? at + 1 : undefined;
}

function trailingBlank(text: string, end: number): number {
  return /\s*$/.exec(text.slice(0, end))?.[0].length ?? 0;
}

function indentAt(text: string, offset: number): string {
  const from = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(from, offset))?.[0] ?? '';
}

/** The first indentation of the text, which every other one is a multiple of. */
function unitOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

/** Short lists and flat objects on one line, everything else a member a line. */
function render(value: unknown, indent: string, manner: Manner, isInner = false): string {
  const flat = oneLine(value);
  if (typeof value !== 'object' || value === null) return flat;
  const isFlat = Object.values(value).every((each) => typeof each !== 'object' || each === null);
  if (Object.keys(value).length === 0 || (isFlat && (isInner || Array.isArray(value)) && flat.length <= 76))
    return flat;
  const inner = indent + manner.unit;
  const parts = Array.isArray(value)
    ? value.map((each) => render(each, inner, manner, true))
    : Object.entries(value).flatMap(([key, each]) =>
        each === undefined ? [] : [`${JSON.stringify(key)}: ${render(each, inner, manner, true)}`],
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const { eol } = manner;
  return `${open}${eol}${inner}${parts.join(`,${eol}${inner}`)}${eol}${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).flatMap(([key, each]) =>
    each === undefined ? [] : [`${JSON.stringify(key)}: ${oneLine(each)}`],
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
