import type { View } from '../../../gateway/view.ts';
import { nearest } from '../../../lib/nearest.ts';
import type { Payload } from '../../../lib/payload.ts';
import type { ToolEntry } from '../../../model/entry.ts';
import { didYouMean, metaArguments, textResult, wrong } from '../../meta-arguments.ts';
import { declarations } from './declarations.ts';
import { commentText } from './schema-type.ts';
import { toolNames } from '../tool-names.ts';

const MAX_NAMES = 10;

/** `describe_tools` where tools are called by scripts: TypeScript. */
export function declareAnswer(given: unknown, view: View): Payload {
  const { names } = metaArguments(given);
  const wanted = typeof names === 'string' ? [names] : names;
  if (!Array.isArray(wanted) || wanted.length === 0 || wanted.length > MAX_NAMES)
    throw wrong(`names must be a list of 1 to ${MAX_NAMES} names of tools`);
  const known = toolNames(view);
  const found = new Set<ToolEntry>();
  const unknown: string[] = [];
  for (const name of new Set(wanted.map(String))) {
    const [server, ...rest] = name.replace(/^tools\./, '').split('.');
    const entry = known.find(undefined, name) ?? known.find(server, rest.join('.'));
    if (entry !== undefined) found.add(entry);
    else unknown.push(missing(name, view));
  }
  const parts = [...unknown, ...(found.size === 0 ? [] : [declarations([...found], view)])];
  return textResult(parts.join('\n'), found.size === 0 ? 'ENTRY_NOT_FOUND' : undefined);
}

function missing(name: string, view: View): string {
  const near = nearest(
    name,
    view.tools.map((tool) => tool.name),
    3,
  );
  return `// ${commentText(name, 200)}: Unknown tool.${didYouMean(near)}`;
}
