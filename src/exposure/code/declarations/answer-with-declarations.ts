import type { CatalogView } from '../../../gateway/catalog-view.ts';
import { findSimilar } from '../../../core/lib/find-similar.ts';
import type { Payload } from '../../../core/lib/payload.ts';
import type { ToolEntry } from '../../../core/entry.ts';
import { parseToolNames } from '../../answer-describe-tools.ts';
import { formatSuggestions, createTextResult } from '../../meta-arguments.ts';
import type { LearnedShapes } from '../../results/learned-shapes.ts';
import { formatDeclarations } from './format-declarations.ts';
import { commentText } from './schema-type.ts';
import { indexToolNames } from '../tool-names.ts';

/** Answers `describe_tools` of the code exposure with TypeScript declarations. */
export async function answerWithDeclarations(
  args: unknown,
  view: CatalogView,
  shapes?: LearnedShapes,
): Promise<Payload> {
  const requested = parseToolNames(args);
  const nameIndex = indexToolNames(view);
  const found = new Set<ToolEntry>();
  const unknown: string[] = [];
  for (const name of new Set(requested.map(String))) {
    // A name can be an exposed name, `SERVER.TOOL`, or `tools.SERVER.TOOL`.
    const [server, ...rest] = name.replace(/^tools\./, '').split('.');
    const entry = nameIndex.find(undefined, name) ?? nameIndex.find(server, rest.join('.'));
    if (entry !== undefined) found.add(entry);
    else unknown.push(describeUnknownTool(name, view));
  }
  const learned = await shapes?.find([...found]);
  const parts = [...unknown, ...(found.size === 0 ? [] : [formatDeclarations([...found], view, learned)])];
  return createTextResult(parts.join('\n'), found.size === 0 ? 'ENTRY_NOT_FOUND' : undefined);
}

function describeUnknownTool(name: string, view: CatalogView): string {
  const similar = findSimilar(
    name,
    view.tools.map((tool) => tool.name),
    3,
  );
  return `// ${commentText(name, 200)}: Unknown tool.${formatSuggestions(similar)}`;
}
