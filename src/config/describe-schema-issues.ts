import { z } from 'zod';

import { findSimilar } from '../core/lib/find-similar.ts';
import {
  type DocumentPath,
  type DocumentProblem,
  findKeyOffset,
  findNode,
  formatPath,
  type Node,
} from './file/document.ts';

interface SchemaContext {
  readonly schema: z.ZodType;
  readonly node: Node;
  /** Advice for an unknown key that resembles no known one. */
  readonly advice?: string;
}

/** Turns the issues of a schema into problems with a message for people and a position below `node`. */
export function describeSchemaIssues(
  issues: readonly z.core.$ZodIssue[],
  context: SchemaContext,
): readonly DocumentProblem[] {
  const { node } = context;
  return issues.flatMap((issue) => {
    // The cast is safe, because keys of JSON are never symbols.
    const path = issue.path as DocumentPath;
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => describeUnknownKey(key, path, context));
    }
    if (issue.code === 'invalid_key') {
      const message = `${formatSubject(path)} ${issue.issues[0]?.message ?? 'is not allowed here'}`;
      return [{ path, offset: findKeyOffset(node, path), message }];
    }
    const found = findNode(node, path);
    const inner = issue.code === 'invalid_union' ? findInnerIssues(issue, found) : [];
    if (inner.length > 0) return describeSchemaIssues(inner, context);
    const message = `${formatSubject(path)} ${describeIssue(issue, found, path.some(mayBeSecret))}`;
    return [{ path, offset: found?.offset ?? node.offset, message }];
  });
}

function describeUnknownKey(
  key: string,
  parent: DocumentPath,
  { schema, node, advice }: SchemaContext,
): DocumentProblem {
  const path = [...parent, key];
  const [similar] = findSimilar(key, listKeys(schema, parent), 1);
  const hint = advice === undefined || parent.length > 0 ? '' : `; ${advice}`;
  const suggestion = similar === undefined ? hint : `; did you mean "${similar}"?`;
  const message = `${formatSubject(path)} is not a known key${suggestion}`;
  return { path, offset: findKeyOffset(node, path), message };
}

/** Returns the keys that a schema has in the object at a path. */
function listKeys(schema: z.ZodType, path: DocumentPath): readonly string[] {
  let current: unknown = unwrapSchema(schema);
  for (const step of path) {
    if (current instanceof z.ZodObject) current = unwrapSchema(current.shape[step]);
    else if (current instanceof z.ZodRecord) current = unwrapSchema(current.valueType);
    else if (current instanceof z.ZodArray) current = unwrapSchema(current.element);
    else return [];
  }
  return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
}

function unwrapSchema(schema: unknown): unknown {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrapSchema(schema.unwrap());
  if (schema instanceof z.ZodUnion) {
    return schema.options.find((option) => option instanceof z.ZodObject) ?? schema;
  }
  return schema;
}

/** Returns the issues inside an object if the union accepts objects. These issues are more specific than the issue of the union. */
function findInnerIssues(
  { errors, path }: z.core.$ZodIssueInvalidUnion,
  found: Node | undefined,
): readonly z.core.$ZodIssue[] {
  if (found?.type !== 'object') return [];
  const issuesOfObject = errors.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  );
  return (issuesOfObject ?? []).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

function formatSubject(path: DocumentPath): string {
  return path.length === 0 ? 'it' : `"${formatPath(path)}"`;
}

/** Keys whose values may be secrets and never appear in a message. */
const SECRET_KEY = /^(?:env|headers|args|url|auth|authorizationToken|apiKey|telemetry)$/;

function mayBeSecret(step: string | number): boolean {
  return typeof step === 'string' && SECRET_KEY.test(step);
}

function describeIssue(issue: z.core.$ZodIssue, found: Node | undefined, isSecret: boolean): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${addArticle(issue.expected)}, found ${describeNode(found, isSecret)}`;
    case 'invalid_value': {
      const allowed = issue.values.map((value) => JSON.stringify(value)).join(' or ');
      return `must be ${allowed}, found ${describeNode(found, isSecret)}`;
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

function addArticle(expected: string): string {
  if (expected === 'int') return 'a whole number';
  if (expected === 'record') return 'an object';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function describeNode(node: Node | undefined, isSecret: boolean): string {
  if (node === undefined) return 'nothing';
  if (node.type === 'null') return 'null';
  if (node.type === 'boolean' || (node.type === 'string' && !isSecret)) return JSON.stringify(node.value);
  return addArticle(node.type);
}
