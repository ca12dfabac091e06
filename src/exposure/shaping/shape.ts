import { createHash } from 'node:crypto';
import type { View } from '../../gateway/view.ts';
import type { ExposedName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ClientLimits } from './known-clients.ts';
import { shapeSchema } from './shape-schema.ts';

/** One thing that a client sees otherwise than others do. */
export interface Rewrite {
  readonly tool: ExposedName;
  readonly part: 'name' | 'inputSchema' | 'outputSchema';
  /** What was done and for whom, as a sentence for people. */
  readonly says: string;
  /** The name in its place. */
  readonly shown?: string;
}

/** How the tools of one view look to one kind of client. */
export interface Shape {
  readonly rewrites: readonly Rewrite[];
  /** Back from the name that the client was shown; undefined for names that were left as they are. */
  exposedName(shown: string): ExposedName | undefined;
  /** A definition as it is listed, with whatever this client needs otherwise. */
  tool(definition: JsonObject): JsonObject;
}

const HASH_LENGTHS = [8, 16, 32] as const;

export function shapeOf(view: View, limits: ClientLimits): Shape {
  const rewrites: Rewrite[] = [];
  const names = shortNames(view, limits.nameLength);
  const changed = new Map<string, JsonObject>();
  for (const { name, definition } of view.tools) {
    const shown = names.get(name);
    if (shown !== undefined) {
      const says = `${limits.client} takes names of at most ${limits.nameLength} characters from us.`;
      rewrites.push({ tool: name, part: 'name', says, shown });
    }
    const schemas = schemasFor(name, definition, { limits, rewrites });
    if (shown !== undefined || schemas !== undefined)
      changed.set(name, { ...schemas, ...(shown === undefined ? {} : { name: shown }) });
  }
  const back = new Map([...names].map(([exposed, shown]) => [shown, exposed]));
  return {
    rewrites,
    exposedName: (shown) => back.get(shown),
    tool: (definition) => ({ ...definition, ...changed.get(String(definition['name'])) }),
  };
}

/** What too long a name becomes: it is cut and ends in its own hash, so that it depends on nothing but itself. */
function shortNames(view: View, length: number | undefined): ReadonlyMap<ExposedName, string> {
  const short = new Map<ExposedName, string>();
  if (length === undefined) return short;
  const taken = new Set<string>(view.tools.map(({ name }) => name));
  for (const { name } of view.tools) {
    if (name.length <= length) continue;
    const hash = createHash('sha256').update(name).digest('hex');
    const forms = HASH_LENGTHS.map(
      (digits) => `${name.slice(0, length - 1 - digits)}_${hash.slice(0, digits)}`,
    );
    const form = forms.find((candidate) => !taken.has(candidate));
    // All three are taken only if somebody means them to be; the name then stays as it is.
    if (form === undefined) continue;
    taken.add(form);
    short.set(name, form);
  }
  return short;
}

function schemasFor(
  tool: ExposedName,
  definition: JsonObject,
  { limits, rewrites }: { readonly limits: ClientLimits; readonly rewrites: Rewrite[] },
): JsonObject | undefined {
  if (limits.schema === undefined) return undefined;
  const changed: Record<string, JsonObject> = {};
  for (const part of ['inputSchema', 'outputSchema'] as const) {
    const before = definition[part];
    if (!isJsonObject(before)) continue;
    const { schema, changes } = shapeSchema(before, limits.schema, part === 'inputSchema');
    for (const change of changes) rewrites.push({ tool, part, says: `For ${limits.client}, ${change}.` });
    if (schema !== before) changed[part] = schema;
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}
