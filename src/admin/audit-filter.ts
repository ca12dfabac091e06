import { matchesGlob } from '../lib/glob.ts';
import type { ToolEntry } from '../model/entry.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { AuditConditions } from '../observe/audit/audit-record.ts';
import type { AdminDeps } from './deps.ts';
import { flag, optionalNumber, optionalText } from './route.ts';
import type { Asked } from './route.ts';

const TEXTS = [
  ...(['kind', 'request', 'group', 'caller', 'via', 'client', 'clientVersion', 'profile', 'server'] as const),
  ...(['entry', 'tier', 'fingerprint', 'outcome', 'code', 'rule', 'digest', 'action'] as const),
];
const NUMBERS = ['after', 'before', 'since', 'until', 'minMs'] as const;

/** Which records a request wants. `tool` is a name as clients see it, or as the server calls it, or a glob of either. */
export function auditFilter({ query, caller }: Asked, { gateway }: AdminDeps): AuditConditions {
  const found = {
    ...Object.fromEntries(given(TEXTS, (name) => optionalText(query, name))),
    ...Object.fromEntries(given(NUMBERS, (name) => optionalNumber(query, name))),
    ...(flag(query, 'errors') && { errors: true }),
  };
  const tool = optionalText(query, 'tool');
  if (tool === undefined) return found;
  const view = gateway.view(caller);
  const known = view.tool(tool);
  if (known !== undefined) return { ...found, server: known.upstream, entry: known.definition.name };
  const others = tool.includes('*') ? namedLike(tool, view.tools) : [];
  return { ...found, entry: tool, ...(others.length > 0 && { others }) };
}

/** A record has no exposed names, so those of now are looked up. As in the record, capitals count as small letters. */
function namedLike(glob: string, tools: readonly ToolEntry[]): NonNullable<AuditConditions['others']> {
  const wanted = glob.toLowerCase();
  const isLike = (name: string): boolean => matchesGlob(name.toLowerCase(), wanted);
  return (
    tools
      // The others are found by their own names, and a statement takes only so many values.
      .filter(({ name, definition }) => isLike(name) && !isLike(definition.name))
      .map(({ upstream, definition }) => [upstream, definition.name] as const)
  );
}

function given<N extends string, V>(
  names: readonly N[],
  read: (name: N) => V | undefined,
): readonly (readonly [N, V])[] {
  return names.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

export function auditOrder(query: JsonObject): 'asc' | 'desc' {
  const order = optionalText(query, 'order') ?? 'desc';
  if (order === 'asc' || order === 'desc') return order;
  throw new GatewayError('USAGE', '"order" must be "asc" or "desc".');
}
