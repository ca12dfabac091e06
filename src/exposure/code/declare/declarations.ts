import type { View } from '../../../gateway/view.ts';
import type { ToolEntry } from '../../../model/entry.ts';
import { isJsonObject } from '../../../model/json.ts';
import { commentText, propertyKey, schemaType } from './schema-type.ts';

const MAX_LINE = 1000;
const MAX_LINES = 60;

/** Declarations of tools as a script sees them, for a model to write against. */
export function declarations(entries: readonly ToolEntry[], view: View): string {
  const byServer = new Map<string, string[]>();
  for (const entry of entries) {
    const tools = byServer.get(entry.upstream) ?? [];
    tools.push(declaration(entry, view));
    byServer.set(entry.upstream, tools);
  }
  const servers = [...byServer].map(
    ([name, tools]) => `  ${propertyKey(name)}: {\n${tools.join('\n')}\n  };`,
  );
  return `declare const tools: {\n${servers.join('\n')}\n};`;
}

function declaration(entry: ToolEntry, view: View): string {
  const { definition } = entry;
  const { inputSchema, outputSchema } = definition;
  const input = schemaType(inputSchema, '    ');
  const output = isJsonObject(outputSchema) ? schemaType(outputSchema, '    ') : 'any';
  const takesNothing = !hasMembers(inputSchema, 'properties') && !hasMembers(inputSchema, '$ref');
  const isOptional = takesNothing || !hasMembers(inputSchema, 'required');
  const args = input === 'any' ? 'Record<string, any>' : input;
  return `${comment(entry, view)}\n    ${propertyKey(definition.name)}(args${isOptional ? '?' : ''}: ${args}): Promise<${output}>;`;
}

function comment(entry: ToolEntry, view: View): string {
  const { description, title } = entry.definition;
  const said = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  const all = said.slice(0, MAX_LINE * MAX_LINES).split(/[\n\v\f\r\u0085\u2028\u2029]+/);
  const lines = all.slice(0, MAX_LINES).map((line) => commentText(line, MAX_LINE));
  const kept = lines.filter((line) => line !== '');
  if (all.length > MAX_LINES) kept.push('…');
  const mark = `[${view.tier(entry)}]`;
  if (kept.length <= 1) return `    /** ${[...kept, mark].join(' ')} */`;
  return `    /**\n${[...kept, mark].map((line) => `     * ${line}`).join('\n')}\n     */`;
}

function hasMembers(schema: unknown, member: string): boolean {
  if (!isJsonObject(schema)) return false;
  const value = schema[member];
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'string') return true;
  for (const _ in isJsonObject(value) ? value : {}) return true;
  return false;
}
