import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { finding } from './finding.ts';
import type { Finding } from './finding.ts';
import { passagesOf } from './passages.ts';
import { look } from './plain-words.ts';

export interface NamedTool {
  readonly upstream: UpstreamName;
  readonly definition: JsonObject & { readonly name: string };
}

/** What is suspicious about a tool beside those of other servers: names that look like theirs, and talk about them. */
export function inspectBesideOthers(tools: readonly NamedTool[]): (tool: NamedTool) => readonly Finding[] {
  const byLook = new Map<string, NamedTool[]>();
  const owners = new Map<string, Set<UpstreamName>>();
  for (const tool of tools) {
    const { name } = tool.definition;
    byLook.set(look(name), [...(byLook.get(look(name)) ?? []), tool]);
    owners.set(name, (owners.get(name) ?? new Set()).add(tool.upstream));
  }
  return (tool) => [...lookAlikes(tool, byLook), ...talkOfOthers(tool, owners)];
}

function lookAlikes(
  { upstream, definition: { name } }: NamedTool,
  byLook: ReadonlyMap<string, readonly NamedTool[]>,
): readonly Finding[] {
  const isMixed =
    /[A-Za-z]/.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u.test(name);
  const twin = (byLook.get(look(name)) ?? []).find(
    (other) => other.upstream !== upstream && letters(other.definition.name) !== letters(name),
  );
  if (!isMixed && twin === undefined) return [];
  const beside = twin === undefined ? '' : ` looks like ${twin.upstream}: ${twin.definition.name}`;
  return [finding('look-alike', { where: 'name', text: `${name}${beside}` })];
}

/** Spelling and separators differ between honest servers; letters and digits do not. */
function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Names that mean nothing but a tool: of several words, as `send_email` or `sendEmail`. */
const TOOL_NAME = /[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+){1,8}|[a-z]+(?:[A-Z][a-z0-9]+){1,6}/g;

function talkOfOthers(
  tool: NamedTool,
  owners: ReadonlyMap<string, ReadonlySet<UpstreamName>>,
): readonly Finding[] {
  const isForeign = (name: string): boolean => {
    const of = owners.get(name);
    return of !== undefined && !of.has(tool.upstream);
  };
  for (const passage of passagesOf(tool.definition).passages) {
    if (!/description|title/.test(passage.where)) continue;
    for (const match of passage.text.matchAll(TOOL_NAME)) {
      if (isForeign(match[0])) return [finding('other-tools', passage, match.index, match[0].length)];
    }
  }
  return [];
}
