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

/** An error at one position of the text. */
export interface DocumentProblem {
  readonly path: DocumentPath;
  readonly offset: number;
  readonly message: string;
}

/** Syntax errors after which the parser can still interpret the rest of the text. */
const RECOVERABLE: ReadonlySet<string> = new Set<ReturnType<typeof printParseErrorCode>>([
  'CommaExpected',
  'InvalidEscapeCharacter',
  'InvalidUnicode',
  'InvalidCharacter',
]);
/** The maximum number of reported errors. A text in another format has an error on every line, and a longer list does not help. */
const MAX_ERRORS = 100;

const EXPLANATIONS: Partial<Record<ReturnType<typeof printParseErrorCode>, string>> = {
  InvalidSymbol: 'this is not a JSON value; strings need double quotes',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a key in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is missing before this',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing brace } is missing',
  CloseBracketExpected: 'a closing bracket ] is missing',
  EndOfFileExpected: 'the document ends before this; remove the rest',
  InvalidCommentToken: 'this is not a comment',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed',
  UnexpectedEndOfNumber: 'this is not a number',
  InvalidUnicode: 'this is not a Unicode escape such as \\u00e9',
  InvalidEscapeCharacter: 'this is not an escape; a backslash itself is written \\\\',
  InvalidCharacter: 'this character must be written as an escape such as \\n',
};

/** Parses JSON with comments and trailing commas. Returns the first problem and the `further` ones in the order of the text. */
export function parseDocument(
  text: string,
):
  | { readonly root: Node }
  | { readonly problem: DocumentProblem; readonly further?: readonly DocumentProblem[] } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [problem, ...further] = describeErrors(errors, text);
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

/** Returns the errors up to the first unrecoverable one, since the errors after that are mostly its consequences. */
function describeErrors(errors: readonly ParseError[], text: string): readonly DocumentProblem[] {
  const unrecoverable = errors.findIndex(({ error }) => !RECOVERABLE.has(printParseErrorCode(error)));
  return errors
    .slice(0, unrecoverable < 0 ? MAX_ERRORS : Math.min(unrecoverable + 1, MAX_ERRORS))
    .map(({ error, offset }) => ({ path: [], offset, message: explainError(error, text) }));
}

function explainError(code: ParseErrorCode, text: string): string {
  if (text.trim() === '') return 'the file is empty; it must hold at least { "mcpServers": {} }';
  const name = printParseErrorCode(code);
  return EXPLANATIONS[name] ?? `this is not valid JSON (${name})`;
}

/** Returns the line and column of an offset, counted from 1. */
export function toPosition(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Returns the value of a node. Its objects have no prototype, so keys such as `__proto__` have no special meaning. */
export function readNodeValue(node: Node): unknown {
  return getNodeValue(node) as unknown;
}

export interface DocumentMember {
  readonly key: string;
  readonly keyNode: Node;
  readonly valueNode: Node;
}

/** Returns the members of an object in the order of the text, including duplicates. */
export function listMembers(node: Node): readonly DocumentMember[] {
  if (node.type !== 'object') return [];
  const members: DocumentMember[] = [];
  for (const { children } of node.children ?? []) {
    const [keyNode, valueNode] = children ?? [];
    if (keyNode === undefined || valueNode === undefined) continue;
    members.push({ key: String(keyNode.value), keyNode, valueNode });
  }
  return members;
}

/** Returns the node at a path below `node`. The last of several duplicate keys counts, as in `JSON.parse`. */
export function findNode(node: Node, path: DocumentPath): Node | undefined {
  let current: Node | undefined = node;
  for (const step of path) {
    if (current === undefined) return undefined;
    current =
      typeof step === 'number'
        ? current.children?.[step]
        : listMembers(current).findLast(({ key }) => key === step)?.valueNode;
  }
  return current;
}

/** Returns the offset of the last key of a path, or of the innermost parent that exists. */
export function findKeyOffset(node: Node, path: DocumentPath): number {
  const parent = findNode(node, path.slice(0, -1));
  const key = path.at(-1);
  if (parent === undefined) return node.offset;
  return listMembers(parent).findLast((member) => member.key === key)?.keyNode.offset ?? parent.offset;
}

/** Returns a problem for every key below `node` that occurs again later in the same object. */
export function findDuplicateKeys(node: Node, path: DocumentPath = []): readonly DocumentProblem[] {
  const problems: DocumentProblem[] = [];
  const members = listMembers(node);
  const last = new Map(members.map((member) => [member.key, member]));
  for (const member of members) {
    const memberPath = [...path, member.key];
    if (last.get(member.key) === member) problems.push(...findDuplicateKeys(member.valueNode, memberPath));
    else {
      const message = `"${formatPath(memberPath)}" is written twice`;
      problems.push({ path: memberPath, offset: member.keyNode.offset, message });
    }
  }
  if (node.type === 'array') {
    for (const [at, child] of (node.children ?? []).entries()) {
      problems.push(...findDuplicateKeys(child, [...path, at]));
    }
  }
  return problems;
}

/** Formats a path as `mcpServers.github.args[1]`. */
export function formatPath(path: DocumentPath): string {
  let formatted = '';
  for (const step of path) {
    if (typeof step === 'number') formatted += `[${step}]`;
    else if (!/^[\w$-]+$/.test(step)) formatted += `[${JSON.stringify(step)}]`;
    else formatted += formatted === '' ? step : `.${step}`;
  }
  return formatted;
}
