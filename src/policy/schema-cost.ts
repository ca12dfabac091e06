import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

const MAX_CHARS = 200_000;
const MAX_NODES = 20_000;
/** Schemas that apply to one and the same value. */
const MAX_IN_PLACE = 2_000;
const MAX_VISITS = 300_000;
const MAX_DEPTH = 200;

const IN_PLACE_ONE = ['not', 'if', 'then', 'else'] as const;
const IN_PLACE_MANY = ['allOf', 'anyOf', 'oneOf'] as const;

/** Whether compiling a schema and checking one value with it is a matter of milliseconds, whoever wrote it. */
export function isAffordable(schema: JsonObject): boolean {
  const nodes = nodesOf(schema);
  if (nodes === undefined || JSON.stringify(schema).length > MAX_CHARS) return false;
  let visits = 0;
  // References multiply: twenty definitions that each name the next one twice are a million checks of one value.
  const inPlace = (node: unknown, depth: number, left: { count: number }): boolean => {
    if (!isJsonObject(node)) return true;
    if (depth > MAX_DEPTH || --left.count < 0 || ++visits > MAX_VISITS) return false;
    const targets: unknown[] = IN_PLACE_ONE.map((key) => node[key]);
    for (const key of IN_PLACE_MANY) if (Array.isArray(node[key])) targets.push(...(node[key] as unknown[]));
    if (typeof node['$ref'] === 'string') targets.push(resolve(schema, node['$ref']));
    return targets.every((target) => inPlace(target, depth + 1, left));
  };
  return nodes.every((node) => inPlace(node, 0, { count: MAX_IN_PLACE }));
}

/** All objects in it; undefined when it is too large or too deep. */
function nodesOf(schema: JsonObject): readonly JsonObject[] | undefined {
  const nodes: JsonObject[] = [];
  let level: unknown[] = [schema];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH || nodes.length + level.length > MAX_NODES) return undefined;
    const next: unknown[] = [];
    for (const node of level) {
      if (typeof node !== 'object' || node === null) continue;
      if (isJsonObject(node)) nodes.push(node);
      for (const child of Object.values(node)) if (typeof child === 'object') next.push(child);
    }
    level = next;
  }
  return nodes;
}

/** A reference within the schema by its JSON pointer. Others do not compile. */
function resolve(schema: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let node: unknown = schema;
  for (const step of reference.slice(1).split('/').slice(1)) {
    if (typeof node !== 'object' || node === null) return undefined;
    // Both objects and arrays are asked by their keys.
    node = (node as JsonObject)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return node;
}
