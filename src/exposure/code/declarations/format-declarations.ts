import type { CatalogView } from '../../../gateway/catalog-view.ts';
import type { ToolEntry } from '../../../core/entry.ts';
import { isJsonObject } from '../../../core/json.ts';
import { formatShape } from '../../results/json-shape.ts';
import type { JsonShape } from '../../results/json-shape.ts';
import { commentText, propertyKey, formatSchemaType } from './schema-type.ts';

const MAX_LINE = 1000;
const MAX_LINES = 60;
const MAX_SEEN_TYPE = 400;

/**
 * Returns TypeScript declarations of tools, which a model reads to write a script. The return type is that of the output schema, or else that
 * of earlier results (`learned`).
 */
export function formatDeclarations(
  entries: readonly ToolEntry[],
  view: CatalogView,
  learned?: ReadonlyMap<ToolEntry, JsonShape>,
): string {
  const byServer = new Map<string, string[]>();
  for (const entry of entries) {
    const tools = byServer.get(entry.upstream) ?? [];
    tools.push(declareTool(entry, view, learned?.get(entry)));
    byServer.set(entry.upstream, tools);
  }
  const servers = [...byServer].map(
    ([name, tools]) => `  ${propertyKey(name)}: {\n${tools.join('\n')}\n  };`,
  );
  return `declare const tools: {\n${servers.join('\n')}\n};`;
}

function declareTool(entry: ToolEntry, view: CatalogView, shape: JsonShape | undefined): string {
  const { definition } = entry;
  const { inputSchema, outputSchema } = definition;
  const input = formatSchemaType(inputSchema, '    ');
  const seenType = shape === undefined ? 'any' : formatShape(shape, MAX_SEEN_TYPE, 'typescript');
  const output = isJsonObject(outputSchema) ? formatSchemaType(outputSchema, '    ') : seenType;
  const mark = `[${view.tier(entry)}]${shape === undefined ? '' : ' Return type as seen in results, not promised.'}`;
  const takesNothing = !hasMembers(inputSchema, 'properties') && !hasMembers(inputSchema, '$ref');
  const isOptional = takesNothing || !hasMembers(inputSchema, 'required');
  const args = input === 'any' ? 'Record<string, any>' : input;
  return `${formatComment(entry, mark)}\n    ${propertyKey(definition.name)}(args${isOptional ? '?' : ''}: ${args}): Promise<${output}>;`;
}

function formatComment({ definition }: ToolEntry, mark: string): string {
  const { description, title } = definition;
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  const allLines = text.slice(0, MAX_LINE * MAX_LINES).split(/[\n\v\f\r\u0085\u2028\u2029]+/);
  const lines = allLines.slice(0, MAX_LINES).map((line) => commentText(line, MAX_LINE));
  const nonEmptyLines = lines.filter((line) => line !== '');
  if (allLines.length > MAX_LINES) nonEmptyLines.push('…');
  if (nonEmptyLines.length <= 1) return `    /** ${[...nonEmptyLines, mark].join(' ')} */`;
  return `    /**\n${[...nonEmptyLines, mark].map((line) => `     * ${line}`).join('\n')}\n     */`;
}

function hasMembers(schema: unknown, member: string): boolean {
  if (!isJsonObject(schema)) return false;
  const value = schema[member];
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'string') return true;
  for (const _ in isJsonObject(value) ? value : {}) return true;
  return false;
}
