import {
  getNodeValue,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';

export type DocumentPath = readonly (string | number)[];
export type { Node };

/** Something wrong at one place of the text. */
export interface Problem {
  readonly path: DocumentPath;
  readonly offset: number;
  readonly message: string;
}

/** Mistakes behind which it is clear how the text goes on. */
const HARMLESS: ReadonlySet<string> = new Set<ReturnType<typeof printParseErrorCode>>([
  ...(['CommaExpected', 'InvalidEscapeCharacter', 'InvalidUnicode', 'InvalidCharacter'] as const),
]);
/** Whoever pastes something else into the file need not read of each of its lines. */
const MAX_ERRORS = 100;

const EXPLANATIONS: Partial<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: 'this is not a JSON value; texts need double quotes',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a key in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is missing before this',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing brace } is missing',
  CloseBracketExpected: 'a closing bracket ] is missing',
  EndOfFileExpected: 'the document has ended before this',
  InvalidCommentToken: 'this is not a comment',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a text is not closed',
  UnexpectedEndOfNumber: 'this is not a number',
  InvalidUnicode: 'this is not a Unicode escape such as \\u00e9',
  InvalidEscapeCharacter: 'this is not an escape; a backslash itself is written \\\\',
  InvalidCharacter: 'this character must be written as an escape such as \\n',
};

/** Parses JSON with comments and trailing commas; what is wrong comes in the order of the text, with `further` behind the first. */
export function parseDocument(
  text: string,
): { readonly root: Node } | { readonly problem: Problem; readonly further?: readonly Problem[] } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [problem, ...further] = syntaxProblems(errors, text);
  if (problem !== undefined) return { problem, further };
  if (root?.type !== 'object') {
    return {
      problem: {
        path: [],
        offset: root?.offset ?? 0,
        message: 'the file must hold an object such as { "mcpServers": {} }',
      },
    };
  }
  return { root };
}

/** Up to the first that makes a parser lose its way: what comes behind that is mostly a consequence of it. */
function syntaxProblems(errors: readonly ParseError[], text: string): readonly Problem[] {
  const lost = errors.findIndex(({ error }) => !HARMLESS.has(printParseErrorCode(error)));
  return errors
    .slice(0, lost < 0 ? MAX_ERRORS : Math.min(lost + 1, MAX_ERRORS))
    .map(({ error, offset }) => ({ path: [], offset, message: explain(error, text) }));
}

function explain(code: ParseErrorCode, text: string): string {
  if (text.trim() === '') return 'the file is empty; the least it can hold is { "mcpServers": {} }';
  const name = printParseErrorCode(code);
  return EXPLANATIONS[name] ?? `this is not valid JSON (${name})`;
}

/** Where an offset is, counted from 1. */
export function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** The value of a node, in objects without a prototype so that no key is special. */
export function valueOf(node: Node): unknown {
  return getNodeValue(node) as unknown;
}

export interface Member {
  readonly key: string;
  readonly keyNode: Node;
  readonly valueNode: Node;
}

/** The members of an object in the order of the text, doubles included. */
export function membersOf(node: Node): readonly Member[] {
  if (node.type !== 'object') return [];
  const members: Member[] = [];
  for (const { children } of node.children ?? []) {
    const [keyNode, valueNode] = children ?? [];
    if (keyNode === undefined || valueNode === undefined) continue;
    members.push({ key: String(keyNode.value), keyNode, valueNode });
  }
  return members;
}

/** The node at a path below `node`; where a key is written twice, the last one, as in every reader of JSON. */
export function nodeAt(node: Node, path: DocumentPath): Node | undefined {
  let current: Node | undefined = node;
  for (const step of path) {
    if (current === undefined) return undefined;
    current =
      typeof step === 'number'
        ? current.children?.[step]
        : membersOf(current).findLast(({ key }) => key === step)?.valueNode;
  }
  return current;
}

/** Offset of the key that a path ends with, or of the nearest thing around it that exists. */
export function offsetOfKey(node: Node, path: DocumentPath): number {
  const parent = nodeAt(node, path.slice(0, -1));
  const key = path.at(-1);
  if (parent === undefined) return node.offset;
  return membersOf(parent).findLast((member) => member.key === key)?.keyNode.offset ?? parent.offset;
}

/** Every key below `node` that is written again further down in the same object. */
export function doubledKeys(node: Node, path: DocumentPath = []): readonly Problem[] {
  const problems: Problem[] = [];
  const members = membersOf(node);
  const last = new Map(members.map((member) => [member.key, member]));
  for (const member of members) {
    const own = [...path, member.key];
    if (last.get(member.key) === member) problems.push(...doubledKeys(member.valueNode, own));
    else {
      const message = `"${formatPath(own)}" is written twice`;
      problems.push({ path: own, offset: member.keyNode.offset, message });
    }
  }
  if (node.type === 'array') {
    for (const [at, child] of (node.children ?? []).entries()) {
      problems.push(...doubledKeys(child, [...path, at]));
    }
  }
  return problems;
}

/** As `mcpServers.github.args[1]`. */
export function formatPath(path: DocumentPath): string {
  let formatted = '';
  for (const step of path) {
    if (typeof step === 'number') formatted += `[${step}]`;
    else if (!/^[\w$-]+$/.test(step)) formatted += `[${JSON.stringify(step)}]`;
    else formatted += formatted === '' ? step : `.${step}`;
  }
  return formatted;
}
