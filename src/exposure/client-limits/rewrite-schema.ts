import type { JsonObject } from '../../core/json.ts';
import { isLargeJson } from '../../core/lib/is-large-json.ts';
import { inlineReferences } from './inline-references.ts';
import type { SchemaRules } from './known-clients.ts';
import { mapSchema } from './map-schema.ts';
import { flattenRoot, hasAlternatives } from './flatten-root.ts';

/** A schema with more members takes too long to rewrite, and no model could use it. */
const MAX_MEMBERS = 10_000;

export interface RewrittenSchema {
  readonly schema: JsonObject;
  /** Descriptions of the changes for people; empty if the schema is unchanged. */
  readonly changes: readonly string[];
}

/**
 * Rewrites a schema for a client. The result never demands more than the original, against which the server still validates. A schema
 * that is too large to be rewritten is replaced by one that accepts every object. `growth.left` is the number of characters by which all
 * definitions of the server may still grow.
 */
export function rewriteSchema(
  schema: JsonObject,
  rules: SchemaRules,
  isInput: boolean,
  growth?: { left: number },
): RewrittenSchema {
  const { formats, inlineReferences: canInline, plainRoot } = rules;
  const needsRewriting =
    canInline === true || formats !== undefined || (plainRoot === true && isInput && hasAlternatives(schema));
  if (needsRewriting && isLargeJson(schema, MAX_MEMBERS))
    return { schema: { type: 'object' }, changes: ['it is too large to rewrite and was left out'] };
  const changes: string[] = [];
  let rewritten = schema;
  if (canInline === true) {
    const inlined = inlineReferences(rewritten, growth);
    if (inlined === undefined)
      changes.push('references were kept, because they are circular, unresolvable or too large to inline');
    else if (inlined !== rewritten) changes.push('references were replaced by their targets');
    rewritten = inlined ?? rewritten;
  }
  if (plainRoot === true && isInput && hasAlternatives(rewritten)) {
    rewritten = flattenRoot(rewritten);
    changes.push('alternatives at its root were merged into one object');
  }
  if (formats !== undefined) {
    const reduced = mapSchema(rewritten, (inner) => withoutFormat(inner, formats));
    if (reduced !== rewritten) changes.push(`formats other than ${formats.join(' and ')} were left out`);
    rewritten = reduced;
  }
  return { schema: rewritten, changes };
}

function withoutFormat(schema: JsonObject, allowed: readonly string[]): JsonObject {
  if (typeof schema['format'] !== 'string' || allowed.includes(schema['format'])) return schema;
  const { format: _, ...rest } = schema;
  return rest;
}
