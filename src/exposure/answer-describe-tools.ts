import type { CatalogView } from '../gateway/catalog-view.ts';
import { stringifyExact } from '../core/lib/exact-json.ts';
import { pickPageReferences } from '../core/ui-references.ts';
import { findSimilar } from '../core/lib/find-similar.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ToolEntry } from '../core/entry.ts';
import { formatShape } from './results/json-shape.ts';
import type { JsonShape } from './results/json-shape.ts';
import type { LearnedShapes } from './results/learned-shapes.ts';
import { toListedTool } from './to-listed-tool.ts';
import {
  formatSuggestions,
  parseMetaArguments,
  createTextResult,
  invalidArgumentsError,
  refuseUnknownParameters,
} from './meta-arguments.ts';

const MAX_NAMES = 10;

/**
 * Answers `describe_tools` with one line of JSON per name, so the text of one tool cannot look like the entry
 * of another. A second line says what earlier results of the tool looked like.
 */
export async function answerDescribeTools(
  args: unknown,
  view: CatalogView,
  shapes?: LearnedShapes,
): Promise<{ readonly payload: Payload; readonly names: readonly string[] }> {
  const requested = parseToolNames(args);
  const entries = requested.map((name) => view.tool(String(name))).filter((entry) => entry !== undefined);
  const learned = await shapes?.find(entries);
  const lines = requested.map((name) => describe(String(name), view, learned));
  const isAllWrong = lines.every(({ isError }) => isError);
  const payload = createTextResult(
    lines.map(({ text }) => text).join('\n'),
    isAllWrong ? 'ENTRY_NOT_FOUND' : undefined,
  );
  return { payload, names: requested.map(String).filter((name) => view.tool(name) !== undefined) };
}

/** Returns the names in the arguments of `describe_tools`. */
export function parseToolNames(rawArguments: unknown): readonly unknown[] {
  const args = parseMetaArguments(rawArguments);
  refuseUnknownParameters(args, 'describe_tools', ['names', 'name']);
  const names = args['names'] ?? args['name'];
  const requested = typeof names === 'string' ? parseNames(names) : names;
  if (!Array.isArray(requested) || requested.length === 0 || requested.length > MAX_NAMES)
    throw invalidArgumentsError(`names must be a list of 1 to ${MAX_NAMES} names of tools`);
  return requested;
}

/** Accepts a single name, or a list that was encoded as JSON once too often. */
function parseNames(names: string): unknown {
  if (!names.trimStart().startsWith('[')) return [names];
  try {
    return JSON.parse(names);
  } catch {
    return [names]; // Not JSON, so it is looked up as a name and reported as unknown.
  }
}

function describe(
  name: string,
  view: CatalogView,
  learned?: ReadonlyMap<ToolEntry, JsonShape>,
): { readonly text: string; readonly isError: boolean } {
  const entry = view.tool(name);
  if (entry === undefined) {
    const similar = findSimilar(
      name,
      view.tools.map((tool) => tool.name),
      3,
    );
    return {
      text: JSON.stringify({ name: name.slice(0, 200), error: `Unknown tool.${formatSuggestions(similar)}` }),
      isError: true,
    };
  }
  const listed = toListedTool(entry, view);
  const { title, description, inputSchema, outputSchema, annotations } = listed;
  // Absent members are undefined here and do not appear in the JSON.
  const fields = {
    name: entry.name,
    tier: view.tier(entry),
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    // Refers to the UI pages of MCP Apps. A client can show them although the tool is not listed.
    _meta: pickPageReferences(listed),
  };
  const shape = learned?.get(entry);
  // A shape contains no line breaks, and its keys are single words.
  const seen = shape === undefined ? '' : `\nReturns (seen): ${formatShape(shape)}`;
  return { text: `${stringifyExact(fields)}${seen}`, isError: false };
}
