import type { UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { createCopyDetector } from './copy-detector.ts';
import { extractPassages } from './extract-passages.ts';
import { createFinding } from './inspection-finding.ts';
import type { InspectionFinding, Passage } from './inspection-finding.ts';
import { normalizeName, visualSkeleton } from './normalize-text.ts';

export interface NamedTool {
  readonly upstream: UpstreamName;
  readonly definition: JsonObject & { readonly name: string };
}

/**
 * Returns a function that compares a tool with the tools of other servers. It reports names that look alike, copies of other tools, and
 * texts that mention other tools.
 */
export function createCrossServerInspection(
  tools: readonly NamedTool[],
): (tool: NamedTool) => readonly InspectionFinding[] {
  const toolsBySkeleton = new Map<string, NamedTool[]>();
  const ownersByName = new Map<string, Set<UpstreamName>>();
  for (const tool of tools) {
    const { name } = tool.definition;
    const skeleton = visualSkeleton(name);
    const lookAlikes = toolsBySkeleton.get(skeleton);
    if (lookAlikes === undefined) toolsBySkeleton.set(skeleton, [tool]);
    else lookAlikes.push(tool);
    for (const spelling of new Set([name, normalizeName(name)]))
      ownersByName.set(spelling, (ownersByName.get(spelling) ?? new Set()).add(tool.upstream));
  }
  const findOriginal = createCopyDetector(tools);
  const serverFindings = inspectServerNames(tools);
  return (tool) => [
    ...inspectToolName(tool, toolsBySkeleton),
    ...(serverFindings.get(tool.upstream) ?? []),
    ...reportCopy(tool, findOriginal(tool)),
    ...findMentionsOfOthers(tool, ownersByName),
  ];
}

function inspectToolName(
  { upstream, definition: { name } }: NamedTool,
  toolsBySkeleton: ReadonlyMap<string, readonly NamedTool[]>,
): readonly InspectionFinding[] {
  const lookAlike = (toolsBySkeleton.get(visualSkeleton(name)) ?? []).find(
    (other) => other.upstream !== upstream && normalizeName(other.definition.name) !== normalizeName(name),
  );
  if (!mixesScripts(name) && lookAlike === undefined) return [];
  const comparison =
    lookAlike === undefined ? '' : ` looks like ${lookAlike.upstream}: ${lookAlike.definition.name}`;
  return [createFinding('look-alike', { where: 'name', text: `${name}${comparison}` })];
}

/** Finds servers whose names could be mistaken for those of others. */
function inspectServerNames(
  tools: readonly NamedTool[],
): ReadonlyMap<UpstreamName, readonly InspectionFinding[]> {
  const names = [...new Set(tools.map(({ upstream }) => upstream))];
  const namesBySkeleton = new Map<string, UpstreamName>();
  for (const name of names) if (!mixesScripts(name)) namesBySkeleton.set(visualSkeleton(name), name);
  return new Map(
    names.map((name) => {
      const other = namesBySkeleton.get(visualSkeleton(name));
      const isLookAlike = other !== undefined && normalizeName(other) !== normalizeName(name);
      const text = isLookAlike ? `${name} looks like ${other}` : name;
      return [
        name,
        isLookAlike || mixesScripts(name) ? [createFinding('look-alike', { where: 'server', text })] : [],
      ];
    }),
  );
}

function reportCopy(tool: NamedTool, original: NamedTool | undefined): readonly InspectionFinding[] {
  if (original === undefined) return [];
  const text = `${tool.definition.name} copies ${original.upstream}: ${original.definition.name}`;
  return [createFinding('look-alike', { where: 'name', text })];
}

function mixesScripts(name: string): boolean {
  return /[A-Za-z]/.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}ɡɑɩ]/u.test(name);
}

/** Matches names of several words, such as `send_email` or `sendEmail`, which normal prose does not contain. */
const TOOL_NAME =
  /[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+){1,8}|[a-z]+(?:[A-Z][a-z0-9]+){1,6}(?![A-Za-z0-9])/g;
/**
 * Minimum length of a name that is recognised in another spelling. A shorter name, such as `waitFor` for
 * `wait_for`, often does not mean a tool.
 */
const MIN_RESPELLED_LENGTH = 9;

function findMentionsOfOthers(
  tool: NamedTool,
  ownersByName: ReadonlyMap<string, ReadonlySet<UpstreamName>>,
): readonly InspectionFinding[] {
  const { passages } = extractPassages(tool.definition);
  const isProse = ({ where }: Passage): boolean =>
    /(?:description|title|text|const|default)$|\]$/.test(where);
  // A name of one of the tool's own parameters or choices is not a mention of another server's tool.
  let ownNames: ReadonlySet<string> | undefined;
  const isOwnName = (spelling: string): boolean => {
    ownNames ??= new Set(
      passages
        .filter(({ text }) => text.length < 60 && !/\s/.test(text))
        .map(({ text }) => normalizeName(text)),
    );
    return ownNames.has(spelling);
  };
  const cache = new Map<string, boolean>();
  const belongsToOther = (name: string): boolean => {
    let result = cache.get(name);
    if (result === undefined) {
      const spelling = normalizeName(name);
      const owners =
        ownersByName.get(name) ??
        (spelling.length < MIN_RESPELLED_LENGTH ? undefined : ownersByName.get(spelling));
      result = owners !== undefined && !owners.has(tool.upstream) && !isOwnName(spelling);
      cache.set(name, result);
    }
    return result;
  };
  for (const passage of passages) {
    if (!isProse(passage) || !/\s/.test(passage.text)) continue;
    for (const match of passage.text.matchAll(TOOL_NAME)) {
      if (belongsToOther(match[0]))
        return [createFinding('other-tools', passage, match.index, match[0].length)];
    }
  }
  return [];
}
