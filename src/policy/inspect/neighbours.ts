import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { finding } from './finding.ts';
import type { Finding, Passage } from './finding.ts';
import { passagesOf } from './passages.ts';
import { look } from './plain-words.ts';
import { twinsAmong } from './twins.ts';

export interface NamedTool {
  readonly upstream: UpstreamName;
  readonly definition: JsonObject & { readonly name: string };
}

/** What is suspicious about a tool beside those of other servers: names that look like theirs, copies of them, and talk about them. */
export function inspectBesideOthers(tools: readonly NamedTool[]): (tool: NamedTool) => readonly Finding[] {
  const byLook = new Map<string, NamedTool[]>();
  const owners = new Map<string, Set<UpstreamName>>();
  for (const tool of tools) {
    const { name } = tool.definition;
    const alike = byLook.get(look(name));
    if (alike === undefined) byLook.set(look(name), [tool]);
    else alike.push(tool);
    for (const spelled of new Set([name, letters(name)]))
      owners.set(spelled, (owners.get(spelled) ?? new Set()).add(tool.upstream));
  }
  const twinOf = twinsAmong(tools);
  const servers = serversByLook(tools);
  return (tool) => [
    ...lookAlikes(tool, byLook),
    ...(servers.get(tool.upstream) ?? []),
    ...copies(tool, twinOf(tool)),
    ...talkOfOthers(tool, owners),
  ];
}

function lookAlikes(
  { upstream, definition: { name } }: NamedTool,
  byLook: ReadonlyMap<string, readonly NamedTool[]>,
): readonly Finding[] {
  const twin = (byLook.get(look(name)) ?? []).find(
    (other) => other.upstream !== upstream && letters(other.definition.name) !== letters(name),
  );
  if (!isMixed(name) && twin === undefined) return [];
  const beside = twin === undefined ? '' : ` looks like ${twin.upstream}: ${twin.definition.name}`;
  return [finding('look-alike', { where: 'name', text: `${name}${beside}` })];
}

/** What is to say about servers that could be taken for others. */
function serversByLook(tools: readonly NamedTool[]): ReadonlyMap<UpstreamName, readonly Finding[]> {
  const names = [...new Set(tools.map(({ upstream }) => upstream))];
  const byLook = new Map<string, UpstreamName>();
  for (const name of names) if (!isMixed(name)) byLook.set(look(name), name);
  return new Map(
    names.map((name) => {
      const other = byLook.get(look(name));
      const isAlike = other !== undefined && letters(other) !== letters(name);
      const text = isAlike ? `${name} looks like ${other}` : name;
      return [name, isAlike || isMixed(name) ? [finding('look-alike', { where: 'server', text })] : []];
    }),
  );
}

function copies(tool: NamedTool, twin: NamedTool | undefined): readonly Finding[] {
  if (twin === undefined) return [];
  const text = `${tool.definition.name} copies ${twin.upstream}: ${twin.definition.name}`;
  return [finding('look-alike', { where: 'name', text })];
}

function isMixed(name: string): boolean {
  return /[A-Za-z]/.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}ɡɑɩ]/u.test(name);
}

/** Spelling and separators differ between honest servers; letters and digits do not. */
function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Names that mean nothing but a tool: of several words, as `send_email` or `sendEmail`. */
const TOOL_NAME =
  /[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+){1,8}|[a-z]+(?:[A-Z][a-z0-9]+){1,6}(?![A-Za-z0-9])/g;
/** Shorter names in another spelling, as `waitFor` for `wait_for`, mean something else as often. */
const MIN_RESPELLED = 9;

function talkOfOthers(
  tool: NamedTool,
  owners: ReadonlyMap<string, ReadonlySet<UpstreamName>>,
): readonly Finding[] {
  const { passages } = passagesOf(tool.definition);
  const isProse = ({ where }: Passage): boolean =>
    /(?:description|title|text|const|default)$|\]$/.test(where);
  // What it calls its own parameters and choices are not tools of others.
  let own: ReadonlySet<string> | undefined;
  const isOwn = (spelled: string): boolean => {
    own ??= new Set(
      passages.filter(({ text }) => text.length < 60 && !/\s/.test(text)).map(({ text }) => letters(text)),
    );
    return own.has(spelled);
  };
  const known = new Map<string, boolean>();
  const isForeign = (name: string): boolean => {
    let is = known.get(name);
    if (is === undefined) {
      const spelled = letters(name);
      const of = owners.get(name) ?? (spelled.length < MIN_RESPELLED ? undefined : owners.get(spelled));
      known.set(name, (is = of !== undefined && !of.has(tool.upstream) && !isOwn(spelled)));
    }
    return is;
  };
  for (const passage of passages) {
    if (!isProse(passage) || !/\s/.test(passage.text)) continue;
    for (const match of passage.text.matchAll(TOOL_NAME)) {
      if (isForeign(match[0])) return [finding('other-tools', passage, match.index, match[0].length)];
    }
  }
  return [];
}
