import type { JsonObject } from '../../core/json.ts';
import { inlineReferences } from './inline-references.ts';
import type { SchemaRules } from './known-clients.ts';
import { mapSchema } from './map-schema.ts';
import { flattenRoot } from './flatten-root.ts';

export interface RewrittenSchema {
  readonly schema: JsonObject;
  /** Descriptions of the changes for people; empty if the schema is unchanged. */
  readonly changes: readonly string[];
}

/**
 * Rewrites a schema for a client. The result never demands more than the original, against which the server still validates.
 * `growth.left` is the number of characters by which all definitions of the server may still grow.
 */
export function rewriteSchema(
  schema: JsonObject,
  rules: SchemaRules,
  isInput: boolean,
  growth?: { left: number },
): RewrittenSchema {
  const changes: string[] = [];
  let rewritten = schema;
  if (rules.inlineReferences === true) {
    const inlined = inlineReferences(rewritten, growth);
    if (inlined === undefined) changes.push('references were left, since they lead too far');
    else if (inlined !== rewritten) changes.push('references were replaced by what they refer to');
    rewritten = inlined ?? rewritten;
  }
  if (rules.plainRoot === true && isInput) {
    const flat = flattenRoot(rewritten);
    if (flat !== rewritten) changes.push('alternatives at its root were merged into one object');
    rewritten = flat;
  }
  const { formats } = rules;
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
