import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** An argument that a modern call over HTTP repeats in a header, so that a balancer need not read the body. */
export interface HeaderParam {
  readonly path: readonly string[];
  readonly header: string;
}

const ANNOTATION = 'x-mcp-header';
/** What a header may be called, by the rules of HTTP. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Their members are schemas; of `properties` alone it is certain to which argument they apply. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);
/** They hold data, which may look like anything. */
const DATA: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'examples']);
const MAX_DEPTH = 100;

/** The annotated arguments of a tool; undefined when an annotation breaks the rules, and the tool must not be used over HTTP. */
export function headerParams(inputSchema: unknown): readonly HeaderParam[] | undefined {
  const found: HeaderParam[] = [];
  if (!collect(inputSchema, [], found)) return undefined;
  const names = new Set(found.map(({ header }) => header.toLowerCase()));
  return names.size === found.length ? found : undefined;
}

/** `path` is undefined where it depends on the arguments whether a schema applies. */
function collect(
  schema: unknown,
  path: readonly string[] | undefined,
  found: HeaderParam[],
  depth = 0,
): boolean {
  if (Array.isArray(schema)) return schema.every((each) => collect(each, undefined, found, depth + 1));
  if (!isJsonObject(schema)) return true;
  if (depth > MAX_DEPTH) return false;
  if (ANNOTATION in schema) {
    const { [ANNOTATION]: header, type } = schema;
    const isProper = typeof header === 'string' && TOKEN.test(header) && TYPES.has(type);
    if (!isProper || path === undefined || path.length === 0) return false;
    found.push({ path, header });
  }
  return Object.entries(schema).every(([keyword, value]) => {
    if (DATA.has(keyword)) return true;
    if (!SCHEMA_MAPS.has(keyword)) return collect(value, undefined, found, depth + 1);
    return Object.entries(isJsonObject(value) ? value : {}).every(([key, child]) =>
      collect(child, keyword === 'properties' && path ? [...path, key] : undefined, found, depth + 1),
    );
  });
}

/** The headers of one call; what is absent or null has none. */
export function paramHeaders(
  params: readonly HeaderParam[],
  args: unknown,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { path, header } of params) {
    const value = path.reduce<unknown>(
      (at, key) => (isJsonObject(at) ? ownMember(at, key) : undefined),
      args,
    );
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      headers[`Mcp-Param-${header}`] = String(value);
  }
  return headers;
}

function ownMember(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
