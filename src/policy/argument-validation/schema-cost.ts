import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/**
 * Maximum size of a schema: the characters of its keys and strings (MAX_CHARS), and its objects and arrays
 * (MAX_NODES).
 */
const MAX_CHARS = 200_000;
const MAX_NODES = 20_000;
/** Maximum number of subschemas that apply to the same value. */
const MAX_APPLIED_PER_VALUE = 2_000;
const MAX_DEPTH = 200;

/** Keywords whose subschemas apply to the same value as the schema that contains them. */
const SINGLE_APPLICATORS = ['not', 'if', 'then', 'else'] as const;
const LIST_APPLICATORS = ['allOf', 'anyOf', 'oneOf'] as const;

/** Returns all objects in a schema, or undefined if it is too large or nested too deeply. */
export function collectNodes(schema: JsonObject): readonly JsonObject[] | undefined {
  const nodes: JsonObject[] = [];
  let chars = 0;
  let level: unknown[] = [schema];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return undefined;
    const next: unknown[] = [];
    for (const node of level) {
      if (isJsonObject(node)) {
        nodes.push(node);
        for (const key in node) chars += key.length;
      }
      for (const child of Object.values(node as object)) {
        if (typeof child === 'object' && child !== null) next.push(child);
        else chars += typeof child === 'string' ? child.length : 1;
      }
      if (chars > MAX_CHARS || nodes.length + next.length > MAX_NODES) return undefined;
    }
    level = next;
  }
  return nodes;
}

/**
 * Whether at most `MAX_APPLIED_PER_VALUE` subschemas apply to one value. References multiply: twenty definitions that each refer to the
 * next one twice apply a million subschemas to a value, and a definition that refers to itself applies infinitely many.
 */
export function isAffordable(nodes: readonly JsonObject[], resolve: (reference: string) => unknown): boolean {
  const counts = new Map<unknown, number>();
  const countApplied = (node: unknown, depth: number): number => {
    if (!isJsonObject(node)) return 1;
    const known = counts.get(node);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) return Infinity;
    // Only a circular reference reads this entry before the count replaces it.
    counts.set(node, Infinity);
    let count = 1;
    for (const key of SINGLE_APPLICATORS)
      if (node[key] !== undefined) count += countApplied(node[key], depth + 1);
    for (const key of LIST_APPLICATORS) {
      const branches = node[key];
      if (Array.isArray(branches)) for (const branch of branches) count += countApplied(branch, depth + 1);
    }
    for (const reference of [node['$ref'], node['$dynamicRef']])
      if (typeof reference === 'string') count += countApplied(resolve(reference), depth + 1);
    counts.set(node, count);
    return count;
  };
  return nodes.every((node) => countApplied(node, 0) <= MAX_APPLIED_PER_VALUE);
}
