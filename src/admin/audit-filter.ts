import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { AuditFilter } from '../observe/audit/audit-record.ts';
import type { AdminDeps } from './deps.ts';
import { flag, optionalNumber, optionalText } from './route.ts';
import type { Asked } from './route.ts';

const TEXTS = [
  ...(['kind', 'request', 'group', 'caller', 'via', 'client', 'clientVersion', 'profile', 'server'] as const),
  ...(['entry', 'tier', 'fingerprint', 'outcome', 'code', 'rule', 'digest', 'action'] as const),
];
const NUMBERS = ['after', 'before', 'since', 'until', 'minMs'] as const;

/** Which records a request wants. `tool` is a name as clients see it, or as the server calls it. */
export function auditFilter({ query, caller }: Asked, { gateway }: AdminDeps): AuditFilter {
  const found = {
    ...Object.fromEntries(given(TEXTS, (name) => optionalText(query, name))),
    ...Object.fromEntries(given(NUMBERS, (name) => optionalNumber(query, name))),
    ...(flag(query, 'errors') && { errors: true }),
  };
  const tool = optionalText(query, 'tool');
  if (tool === undefined) return found;
  const known = gateway.view(caller).tool(tool);
  return known === undefined
    ? { ...found, entry: tool }
    : { ...found, server: known.upstream, entry: known.definition.name };
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
