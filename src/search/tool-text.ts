import type { ToolEntry } from '../model/entry.ts';
import { isJsonObject } from '../model/json.ts';
import type { ServerFacts } from '../model/server-facts.ts';

/** What a tool says about itself, as plain text by field. */
export interface ToolText {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: string;
  readonly parameterTexts: string;
  readonly enums: string;
}

export interface ServerText {
  readonly name: string;
  readonly text: string;
}

const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA_TEXT = 6_000;
const MAX_SCHEMA_NODES = 300;
const MAX_DEPTH = 5;
const MAX_ENUM_VALUES = 20;
const MAX_SERVER_TEXT = 600;

export function toolText({ definition }: ToolEntry): ToolText {
  const { title, description, inputSchema, annotations } = definition;
  const hinted = isJsonObject(annotations) ? annotations['title'] : undefined;
  const schema = schemaText(inputSchema);
  return {
    name: definition.name,
    title: [title, hinted]
      .filter((text) => typeof text === 'string')
      .join(' ')
      .slice(0, MAX_SERVER_TEXT),
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : '',
    ...schema,
  };
}

export function serverText(
  upstream: string,
  facts: ServerFacts | undefined,
  described: string | undefined,
): ServerText {
  const { name, title, description } = facts?.info ?? {};
  const names = [upstream, name, title].filter((text) => typeof text === 'string');
  const texts = [described, description, facts?.instructions].filter((text) => typeof text === 'string');
  return { name: names.join(' ').slice(0, MAX_SERVER_TEXT), text: texts.join(' ').slice(0, MAX_SERVER_TEXT) };
}

interface SchemaText {
  readonly parameters: string;
  readonly parameterTexts: string;
  readonly enums: string;
}

/** Breadth first and bounded, so that a huge schema costs no more than a large one; references stay unread. */
function schemaText(root: unknown): SchemaText {
  const names: string[] = [];
  const texts: string[] = [];
  const enums: string[] = [];
  let left = MAX_SCHEMA_TEXT;
  let level: unknown[] = [root];
  let nodes = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const node of level) {
      if (!isJsonObject(node) || nodes >= MAX_SCHEMA_NODES || left <= 0) continue;
      nodes += 1;
      left -= take(node, { texts, enums, isRoot: depth === 0 });
      for (const [name, child] of childrenOf(node)) {
        if (next.length >= MAX_SCHEMA_NODES) break;
        if (name !== undefined) names.push(name.slice(0, 100));
        next.push(child);
      }
    }
    level = next;
  }
  return { parameters: names.join(' '), parameterTexts: texts.join(' '), enums: enums.join(' ') };
}

function take(
  node: Readonly<Record<string, unknown>>,
  into: { readonly texts: string[]; readonly enums: string[]; readonly isRoot: boolean },
): number {
  let taken = 0;
  const { description, enum: values } = node;
  if (typeof description === 'string' && !into.isRoot) {
    const text = description.slice(0, 1_000);
    into.texts.push(text);
    taken += text.length;
  }
  for (const value of Array.isArray(values) ? values.slice(0, MAX_ENUM_VALUES) : []) {
    if (typeof value !== 'string') continue;
    into.enums.push(value.slice(0, 60));
    taken += Math.min(value.length, 60);
  }
  return taken;
}

function* childrenOf(
  node: Readonly<Record<string, unknown>>,
): Generator<readonly [string | undefined, unknown]> {
  const { properties, items, anyOf, oneOf, allOf, additionalProperties } = node;
  if (isJsonObject(properties)) {
    // Not `Object.entries`: a schema with a million properties must not be copied to read some of them.
    for (const name in properties) yield [name, properties[name]];
  }
  for (const inner of [items, additionalProperties]) if (isJsonObject(inner)) yield [undefined, inner];
  for (const inners of [anyOf, oneOf, allOf]) {
    if (!Array.isArray(inners)) continue;
    for (const inner of inners) yield [undefined, inner];
  }
}
