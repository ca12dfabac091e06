import type { ToolEntry } from '../../core/entry.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ServerFacts } from '../../core/server-facts.ts';

/** The texts of a tool by field. */
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

// Limits of texts are in characters.
const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA_TEXT = 6_000;
const MAX_SCHEMA_NODES = 300;
const MAX_DEPTH = 5;
const MAX_ENUM_VALUES = 20;
const MAX_SERVER_TEXT = 600;

export function toolText({ definition }: ToolEntry): ToolText {
  const { title, description, inputSchema, annotations } = definition;
  const annotatedTitle = isJsonObject(annotations) ? annotations['title'] : undefined;
  const schema = collectSchemaText(inputSchema);
  return {
    name: definition.name,
    title: [title, annotatedTitle]
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
  configuredDescription: string | undefined,
): ServerText {
  const { name, title, description } = facts?.info ?? {};
  const names = [upstream, name, title].filter((text) => typeof text === 'string');
  const texts = [configuredDescription, description, facts?.instructions].filter(
    (text) => typeof text === 'string',
  );
  return { name: names.join(' ').slice(0, MAX_SERVER_TEXT), text: texts.join(' ').slice(0, MAX_SERVER_TEXT) };
}

interface SchemaText {
  readonly parameters: string;
  readonly parameterTexts: string;
  readonly enums: string;
}

/**
 * Collects the texts of a schema breadth-first, so that the outer parameters come before nested ones if a limit is reached. The limits
 * bound the time for a huge schema. References are not followed.
 */
function collectSchemaText(root: unknown): SchemaText {
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
      left -= collectTexts(node, { texts, enums, isRoot: depth === 0 });
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

/** Adds the texts of one schema node and returns their length. The description of the root repeats that of the tool and is skipped. */
function collectTexts(
  node: Readonly<Record<string, unknown>>,
  into: { readonly texts: string[]; readonly enums: string[]; readonly isRoot: boolean },
): number {
  let chars = 0;
  const { description, enum: values } = node;
  if (typeof description === 'string' && !into.isRoot) {
    const text = description.slice(0, 1_000);
    into.texts.push(text);
    chars += text.length;
  }
  for (const value of Array.isArray(values) ? values.slice(0, MAX_ENUM_VALUES) : []) {
    if (typeof value !== 'string') continue;
    into.enums.push(value.slice(0, 60));
    chars += Math.min(value.length, 60);
  }
  return chars;
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
