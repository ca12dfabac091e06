import { z } from 'zod';

import { nearest } from '../lib/nearest.ts';
import {
  type DocumentPath,
  formatPath,
  type Node,
  nodeAt,
  offsetOfKey,
  type Problem,
} from './file/document.ts';

interface Checked {
  readonly schema: z.ZodType;
  readonly node: Node;
  /** What to do about a key that is like none of ours. */
  readonly advice?: string;
}

/** What a schema has against the value of `node`, in words and with places. */
export function schemaProblems(issues: readonly z.core.$ZodIssue[], checked: Checked): readonly Problem[] {
  const { node } = checked;
  return issues.flatMap((issue) => {
    // Keys of JSON are never symbols.
    const path = issue.path as DocumentPath;
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownKey(key, path, checked));
    }
    if (issue.code === 'invalid_key') {
      const message = `${subject(path)} ${issue.issues[0]?.message ?? 'is not allowed here'}`;
      return [{ path, offset: offsetOfKey(node, path), message }];
    }
    const found = nodeAt(node, path);
    const inside = issue.code === 'invalid_union' ? insideOf(issue, found) : [];
    if (inside.length > 0) return schemaProblems(inside, checked);
    const message = `${subject(path)} ${explain(issue, found, path.some(mayBeSecret))}`;
    return [{ path, offset: found?.offset ?? node.offset, message }];
  });
}

/** Where one of several kinds is an object and an object was written, what is wrong inside it says more. */
function insideOf(
  { errors, path }: z.core.$ZodIssueInvalidUnion,
  found: Node | undefined,
): readonly z.core.$ZodIssue[] {
  if (found?.type !== 'object') return [];
  const meant = errors.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  );
  return (meant ?? []).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

function unknownKey(key: string, path: DocumentPath, { schema, node, advice }: Checked): Problem {
  const own = [...path, key];
  const [meant] = nearest(key, keysAt(schema, path), 1);
  const hint = advice === undefined || path.length > 0 ? '' : `; ${advice}`;
  const suggestion = meant === undefined ? hint : `; did you mean "${meant}"?`;
  const message = `${subject(own)} is not a known key${suggestion}`;
  return { path: own, offset: offsetOfKey(node, own), message };
}

function subject(path: DocumentPath): string {
  return path.length === 0 ? 'it' : `"${formatPath(path)}"`;
}

/** Keys whose values are shown to nobody, whatever is wrong with them. */
const SECRET = /^(?:env|headers|args|url|auth|authorizationToken|apiKey|telemetry)$/;

function mayBeSecret(step: string | number): boolean {
  return typeof step === 'string' && SECRET.test(step);
}

function explain(issue: z.core.$ZodIssue, found: Node | undefined, isSecret: boolean): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected)}, found ${describe(found, isSecret)}`;
    case 'invalid_value': {
      const allowed = issue.values.map((value) => JSON.stringify(value)).join(' or ');
      return `must be ${allowed}, found ${describe(found, isSecret)}`;
    }
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      return `must be ${issue.inclusive === true ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

function withArticle(expected: string): string {
  if (expected === 'int') return 'a whole number';
  if (expected === 'record') return 'an object';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function describe(node: Node | undefined, isSecret: boolean): string {
  if (node === undefined) return 'nothing';
  if (node.type === 'null') return 'null';
  if (node.type === 'boolean' || (node.type === 'string' && !isSecret)) return JSON.stringify(node.value);
  return withArticle(node.type);
}

/** The keys that a schema knows in the object at a path. */
function keysAt(schema: z.ZodType, path: DocumentPath): readonly string[] {
  let current: unknown = unwrap(schema);
  for (const step of path) {
    if (current instanceof z.ZodObject) current = unwrap(current.shape[step]);
    else if (current instanceof z.ZodRecord) current = unwrap(current.valueType);
    else if (current instanceof z.ZodArray) current = unwrap(current.element);
    else return [];
  }
  return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.find((one) => one instanceof z.ZodObject) ?? schema;
  return schema;
}
