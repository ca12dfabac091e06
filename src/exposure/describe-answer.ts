import type { View } from '../gateway/view.ts';
import { stringifyExact } from '../lib/exact-json.ts';
import { nearest } from '../lib/nearest.ts';
import type { Payload } from '../lib/payload.ts';
import { listedTool } from './listed-tool.ts';
import { didYouMean, metaArguments, textResult, wrong } from './meta-arguments.ts';

const MAX_NAMES = 10;

/** `describe_tools`: one line of JSON per name, so that no description can be taken for the beginning of another. */
export function describeAnswer(given: unknown, view: View): Payload {
  const { names } = metaArguments(given);
  const wanted = typeof names === 'string' ? listOf(names) : names;
  if (!Array.isArray(wanted) || wanted.length === 0 || wanted.length > MAX_NAMES)
    throw wrong(`names must be a list of 1 to ${MAX_NAMES} names of tools`);
  const lines = wanted.map((name: unknown) => describe(String(name), view));
  const isAllWrong = lines.every(({ isError }) => isError);
  return textResult(lines.map(({ text }) => text).join('\n'), isAllWrong ? 'ENTRY_NOT_FOUND' : undefined);
}

/** One name, or a list that was encoded once too often. */
function listOf(names: string): unknown {
  if (!names.trimStart().startsWith('[')) return [names];
  try {
    return JSON.parse(names);
  } catch {
    // Best effort: then it is taken for a name, and the answer says that there is none.
    return [names];
  }
}

function describe(name: string, view: View): { readonly text: string; readonly isError: boolean } {
  const entry = view.tool(name);
  if (entry === undefined) {
    const near = nearest(
      name,
      view.tools.map((tool) => tool.name),
      3,
    );
    return {
      text: JSON.stringify({ name: name.slice(0, 200), error: `Unknown tool.${didYouMean(near)}` }),
      isError: true,
    };
  }
  const { title, description, inputSchema, outputSchema, annotations, _meta } = listedTool(entry, view);
  // Members that are not there are not written.
  const shown = {
    name: entry.name,
    tier: view.tier(entry),
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    // The pages of MCP Apps are named here, which a client can show although it did not list the tool.
    _meta,
  };
  return { text: stringifyExact(shown), isError: false };
}
