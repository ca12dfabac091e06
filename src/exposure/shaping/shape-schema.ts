import type { JsonObject } from '../../model/json.ts';
import { inlineReferences } from './inline-references.ts';
import type { SchemaRules } from './known-clients.ts';
import { mapSchema } from './map-schema.ts';
import { plainRoot } from './plain-root.ts';

export interface ShapedSchema {
  readonly schema: JsonObject;
  /** What was done and why, for people; empty when nothing had to be. */
  readonly changes: readonly string[];
}

/** A schema in the dialect of a client. It says less than the original at most; the server still checks arguments by its own. */
export function shapeSchema(schema: JsonObject, rules: SchemaRules, isInput: boolean): ShapedSchema {
  const changes: string[] = [];
  let shaped = schema;
  if (rules.inlineReferences === true) {
    const inlined = inlineReferences(shaped);
    if (inlined === undefined) changes.push('references were left, since they lead too far');
    else if (inlined !== shaped) changes.push('references were replaced by what they refer to');
    shaped = inlined ?? shaped;
  }
  if (rules.plainRoot === true && isInput) {
    const plain = plainRoot(shaped);
    if (plain !== shaped) changes.push('alternatives at its root were merged into one object');
    shaped = plain;
  }
  const { formats } = rules;
  if (formats !== undefined) {
    const plain = mapSchema(shaped, (one) => withoutFormat(one, formats));
    if (plain !== shaped) changes.push(`formats other than ${formats.join(' and ')} were left out`);
    shaped = plain;
  }
  return { schema: shaped, changes };
}

function withoutFormat(schema: JsonObject, allowed: readonly string[]): JsonObject {
  if (typeof schema['format'] !== 'string' || allowed.includes(schema['format'])) return schema;
  const { format: _, ...rest } = schema;
  return rest;
}
