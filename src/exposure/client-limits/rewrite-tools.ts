import { createHash } from 'node:crypto';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import type { ExposedName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ClientLimits } from './known-clients.ts';
import { rewriteSchema } from './rewrite-schema.ts';

/** One change to a tool for a particular client. */
export interface ToolRewrite {
  readonly tool: ExposedName;
  readonly part: 'name' | 'inputSchema' | 'outputSchema';
  /** A sentence that explains the change to users. */
  readonly explanation: string;
  /** The name that the client sees instead. */
  readonly clientName?: string;
}

/** The tools of one view as one kind of client sees them. */
export interface RewrittenTools {
  readonly rewrites: readonly ToolRewrite[];
  /** Maps a rewritten name back; returns undefined for names that were not rewritten. */
  exposedName(clientName: string): ExposedName | undefined;
  /** Returns a listed definition with the changes for this client. */
  tool(definition: JsonObject): JsonObject;
}

/** The maximum number of characters that inlining may add to all definitions of one server. */
const MAX_SERVER_GROWTH = 2_000_000;
/**
 * The numbers of hash digits in a shortened name. A larger number is used if the name with fewer digits is
 * taken.
 */
const HASH_LENGTHS = [8, 16, 32] as const;

export function rewriteTools(view: CatalogView, limits: ClientLimits): RewrittenTools {
  const rewrites: ToolRewrite[] = [];
  const shortNames = shortenNames(view, limits.nameLength);
  const overrides = new Map<string, JsonObject>();
  const growthByServer = new Map<string, { left: number }>();
  for (const { name, definition, upstream } of view.tools) {
    const clientName = shortNames.get(name);
    if (clientName !== undefined) {
      const explanation = `${limits.client} accepts names of at most ${limits.nameLength} characters, not counting the prefix that it adds.`;
      rewrites.push({ tool: name, part: 'name', explanation, clientName });
    }
    let growth = growthByServer.get(upstream);
    if (growth === undefined) growthByServer.set(upstream, (growth = { left: MAX_SERVER_GROWTH }));
    const schemas = rewriteSchemas(name, definition, { limits, rewrites, growth });
    if (clientName !== undefined || schemas !== undefined)
      overrides.set(name, clientName === undefined ? { ...schemas } : { ...schemas, name: clientName });
  }
  const exposedNames = new Map([...shortNames].map(([exposed, clientName]) => [clientName, exposed]));
  return {
    rewrites,
    exposedName: (clientName) => exposedNames.get(clientName),
    tool: (definition) => ({ ...definition, ...overrides.get(String(definition['name'])) }),
  };
}

/**
 * Returns short names for the names that are too long: the beginning and a hash of the full name. So a short name depends only on its own
 * tool, unless another tool already has it.
 */
function shortenNames(view: CatalogView, length: number | undefined): ReadonlyMap<ExposedName, string> {
  const shortNames = new Map<ExposedName, string>();
  if (length === undefined) return shortNames;
  const taken = new Set<string>(view.tools.map(({ name }) => name));
  for (const { name } of view.tools) {
    if (name.length <= length) continue;
    const hash = createHash('sha256').update(name).digest('hex');
    const forms = HASH_LENGTHS.map(
      (digits) => `${name.slice(0, length - 1 - digits)}_${hash.slice(0, digits)}`,
    );
    const form = forms.find((candidate) => !taken.has(candidate));
    // Only an attacker could occupy all three forms; the name then stays unchanged.
    if (form === undefined) continue;
    taken.add(form);
    shortNames.set(name, form);
  }
  return shortNames;
}

function rewriteSchemas(
  tool: ExposedName,
  definition: JsonObject,
  {
    limits,
    rewrites,
    growth,
  }: {
    readonly limits: ClientLimits;
    readonly rewrites: ToolRewrite[];
    readonly growth: { left: number };
  },
): JsonObject | undefined {
  if (limits.schema === undefined) return undefined;
  const rewritten: Record<string, JsonObject> = {};
  for (const part of ['inputSchema', 'outputSchema'] as const) {
    const before = definition[part];
    if (!isJsonObject(before)) continue;
    const { schema, changes } = rewriteSchema(before, limits.schema, part === 'inputSchema', growth);
    for (const change of changes)
      rewrites.push({ tool, part, explanation: `For ${limits.client}, ${change}.` });
    if (schema !== before) rewritten[part] = schema;
  }
  return Object.keys(rewritten).length === 0 ? undefined : rewritten;
}
